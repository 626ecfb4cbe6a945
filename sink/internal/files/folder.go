package files

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxFiles bounds the files of a folder that is read.
const maxFiles = 1 << 20

// Folder is what a folder holds that an agent has written: one log, or one in each of its sub-folders.
type Folder struct {
	logs       []logFiles
	otherBytes int64 // of files that belong to no log
}

// logFiles is one log: its map, "" where it has none, and its data files in the order in which they were written.
type logFiles struct {
	mapFile string
	data    []string
}

// Open finds the logs of a folder. A file is of a log by its name; links are not followed.
func Open(folder string, format *Format) (Folder, error) {
	var found Folder
	if !filepath.IsAbs(folder) {
		return found, fmt.Errorf("%q is no absolute path", folder)
	}
	folders := []string{folder}
	files := 0
	for at := 0; at < len(folders); at++ {
		entries, err := os.ReadDir(folders[at])
		if err != nil {
			return found, err
		}
		var log logFiles
		for _, entry := range entries {
			path := filepath.Join(folders[at], entry.Name())
			switch {
			case entry.IsDir() && at == 0:
				folders = append(folders, path)
			case !entry.Type().IsRegular():
			case entry.Name() == format.MapName:
				log.mapFile = path
			case filepath.Ext(path) == format.Extension:
				log.data = append(log.data, path)
			default:
				if info, err := entry.Info(); err == nil {
					found.otherBytes += info.Size()
				}
			}
			if files++; files > maxFiles {
				return found, fmt.Errorf("%s has more than %d files", folder, maxFiles)
			}
		}
		if log.mapFile != "" || len(log.data) > 0 {
			slices.SortFunc(log.data, byNumber)
			found.logs = append(found.logs, log)
		}
	}
	return found, nil
}

// byNumber orders files by the number at the end of their names, which is counted on where the time in front of it
// may be set back, and has more digits from 1,000 on.
func byNumber(a, b string) int {
	return cmp.Or(cmp.Compare(fileNumber(a), fileNumber(b)), cmp.Compare(a, b))
}

// fileNumber is 12 for "kieker-20260101-101500123-UTC-012.bin", and 0 where there is none.
func fileNumber(path string) int64 {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	number, err := strconv.ParseInt(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	if err != nil {
		return 0
	}
	return number
}
