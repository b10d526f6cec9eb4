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
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "PROJECT")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// Root is the top of the repository. It panics in a process that started elsewhere.
func Root() string {
	if found == "" {
		panic("no folder above the working directory has the file PROJECT")
	}
	return found
}
