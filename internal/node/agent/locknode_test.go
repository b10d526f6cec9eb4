package agent

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestASecondAgentWaitsForTheLock(t *testing.T) {
	root := t.TempDir()
	first, err := LockNode(t.Context(), root)
	must(err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := LockNode(ctx, root); err == nil || !strings.Contains(err.Error(), "another agent") {
		t.Fatal(err)
	}
	must(first.Close())
	second, err := LockNode(t.Context(), root)
	must(err)
	must(second.Close())
}
