package main

import (
	"context"
	"fmt"
	"os"

	"github.com/pgstorage/pgstorage/internal/bench/restorecheck"
	"github.com/pgstorage/pgstorage/internal/bench/runner"
)

// checkRestore checks a restored database, and writes the report where Kubernetes takes the
// termination message of the container from.
func checkRestore(ctx context.Context, report string) error {
	checker, err := restorecheck.Environment()
	if err != nil {
		return err
	}
	checker.Connecting = runner.Connecting
	if checker.Dir, err = os.Getwd(); err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	result, err := checker.Run(ctx)
	if err != nil {
		return err
	}
	text, err := result.Encode()
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	fmt.Println(string(text))
	return os.WriteFile(report, text, 0o600) //nolint:gosec // the caller names the file
}
