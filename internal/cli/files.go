package cli

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/pgstorage/pgstorage/internal/cli/input"
)

// files reads the files that --filename names.
func (a *app) files(ctx context.Context, names []string, recursive bool) ([]input.File, error) {
	files, err := input.Source{In: a.streams.In, Recursive: recursive, OnStdin: a.announceStdin}.Files(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("--filename: %w", err)
	}
	return files, nil
}

// announceStdin says on a terminal how to end the input.
func (a *app) announceStdin() {
	if f, ok := a.streams.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		_, _ = fmt.Fprintln(a.streams.ErrOut, "Reading from the terminal; press Ctrl-D at the beginning of a line to end the input")
	}
}
