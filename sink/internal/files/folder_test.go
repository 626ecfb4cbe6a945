package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesAreReadByTheirNumberAndNotByTheirTime(t *testing.T) {
	names := []string{"k-20260101-101500999-UTC-999.bin", "k-20260101-101500000-UTC-1000.bin", "k-2-UTC-002.bin", "other.bin"}
	folder := t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := Open(folder, &Format{Extension: ".bin", MapName: "kieker.map"})
	if err != nil || len(found.logs) != 1 {
		t.Fatal(found, err)
	}
	var order []string
	for _, path := range found.logs[0].data {
		order = append(order, filepath.Base(path))
	}
	if expected := []string{names[3], names[2], names[0], names[1]}; strings.Join(order, " ") != strings.Join(expected, " ") {
		t.Errorf("read in the order %v", order)
	}
}
