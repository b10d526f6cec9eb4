// Command release makes and checks images without a base, SBOMs and provenance. No command
// line tool for these parts of a release is small enough. hack/release.sh calls it.
package main

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// source is where the project's sources are published.
const source = "https://github.com/pgstorage/pgstorage"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

var commands = map[string]struct {
	usage string
	args  int
	run   func(args []string) error
}{
	"image":      {"image VERSION PROGRAMS LAYOUT", 3, image},
	"sbom":       {"sbom VERSION PROGRAMS/OS_ARCH", 2, sbom},
	"provenance": {"provenance VERSION COMMIT NAME=SHA256...", 3, provenance},
	"predicate":  {"predicate STATEMENT", 1, predicate},
	"push":       {"push LAYOUT REFERENCE", 2, push},
	"load":       {"load ARCHIVE REFERENCE", 2, load},
	"digest":     {"digest LAYOUT", 1, printDigest},
	"stand-in":   {"stand-in LISTEN FOLDER", 2, standIn},
}

func run(args []string) error {
	if len(args) == 0 {
		return errors.New("usage: release image|sbom|provenance|predicate|push|load|digest|stand-in")
	}
	c, found := commands[args[0]]
	if !found {
		return fmt.Errorf("unknown command %q", args[0])
	}
	if len(args)-1 < c.args {
		return errors.New("usage: release " + c.usage)
	}
	return c.run(args[1:])
}

// when is the time of the commit, which stands for the time of the build.
func when() (time.Time, error) {
	var seconds int64
	if _, err := fmt.Sscan(os.Getenv("SOURCE_DATE_EPOCH"), &seconds); err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH must be the time of the commit in seconds: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
