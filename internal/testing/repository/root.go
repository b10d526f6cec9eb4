// Package repository finds the folder of this repository for tests, which run anywhere below it.
package repository

import (
	"os"
	"path/filepath"
)

// found at the start: a test may change its working directory later. Programs compiled with
// -trimpath do not know where their source is, and share compiled packages between checkouts.
var found = find()

func find() string {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "PROJECT")); missing == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}

// Root is the top of the repository. It panics in a process that started elsewhere.
func Root() string {
	if found == "" {
		panic("no folder above the working directory has the file PROJECT")
	}
	return found
}
