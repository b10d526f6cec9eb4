package agent

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestAlone(t *testing.T) {
	root := t.TempDir()
	first, err := Alone(t.Context(), root)
	must(err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Alone(ctx, root); err == nil || !strings.Contains(err.Error(), "another agent") {
		t.Fatal(err)
	}
	must(first.Close())
	second, err := Alone(t.Context(), root)
	must(err)
	must(second.Close())
}
