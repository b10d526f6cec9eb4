package harness

import (
	"flag"
	"io"
	"slices"
	"testing"
)

func TestClientsAreACommaSeparatedList(t *testing.T) {
	clients := Clients{1, 4}
	flags := flag.NewFlagSet("x", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Var(&clients, "clients", "")
	if err := flags.Parse(nil); err != nil || clients.String() != "1,4" {
		t.Errorf("no flag: %v, %v, want 1,4", clients, err)
	}
	if err := flags.Parse([]string{"-clients", "2,8,50"}); err != nil || !slices.Equal(clients, Clients{2, 8, 50}) {
		t.Errorf("-clients 2,8,50: %v, %v", clients, err)
	}
	for _, text := range []string{"", "0", "x", "1,", "1,-4"} {
		if err := flags.Parse([]string{"-clients", text}); err == nil {
			t.Errorf("-clients %q is accepted as %v", text, clients)
		}
	}
}
