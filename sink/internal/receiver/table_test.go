package receiver

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Those who write an agent's file, and what checks it, read the names there.
const (
	listOfProtocols = "../../protocols.txt"
	listOfAnyNamed  = "../../any-name.txt"
	listOfPorts     = "../../second-ports.txt"
)

func TestTheListsNameEveryProtocolThoseThatTakeAnyNameAndSecondPorts(t *testing.T) {
	var anyNamed []string
	spoken := slices.Sorted(maps.Keys(Table))
	for _, name := range spoken {
		if Table[name].AnyName {
			anyNamed = append(anyNamed, name)
		}
	}
	for list, names := range map[string][]string{listOfProtocols: spoken, listOfAnyNamed: anyNamed, listOfPorts: Table.SecondPorts()} {
		text, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		if listed := strings.Fields(string(text)); !slices.Equal(listed, names) {
			t.Errorf("%s lists %v, the table has %v", list, listed, names)
		}
	}
}

func TestAProtocolIsReceivedReadFromFilesOrScraped(t *testing.T) {
	for name, p := range Table {
		ways := 0
		for _, is := range []bool{p.Receiver != nil, p.Files != nil, p.Scraper != nil} {
			if is {
				ways++
			}
		}
		if ways != 1 || p.Structure == nil || p.Receiver != nil && p.ConnectionBytes <= 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestEveryFolderHasTheSameFilesAndIsInTheTable(t *testing.T) {
	table, err := os.ReadFile("table.go")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		folder := entry.Name()
		if !entry.IsDir() {
			continue
		}
		for _, name := range []string{"README.md", "protocol.go", "walk.go", "samples_test.go", "fuzz_test.go"} {
			if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(string(table), "internal/receiver/"+folder+`"`) {
			t.Errorf("table.go does not know %s", folder)
		}
	}
}
