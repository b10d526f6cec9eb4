package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/cli/branch"
	"github.com/pgstorage/pgstorage/internal/cli/gather"
)

func (a *app) branchPsql() *cobra.Command {
	c := branchPsqlHelp.command()
	c.Args = func(c *cobra.Command, args []string) error {
		if dash := c.ArgsLenAtDash(); dash > 1 || dash < 0 && len(args) > 1 {
			return errors.New("name one branch, and put the arguments of psql after --")
		}
		if len(args) == 0 || c.ArgsLenAtDash() == 0 {
			return errors.New("name a branch")
		}
		return nil
	}
	c.ValidArgsFunction = a.completeFirst(branch.Kind)
	c.DisableFlagsInUseLine = true
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.psql(c.Context(), connection(c.InheritedFlags()), args[0], args[1:])
	}
	return c
}

// psql runs psql in the primary's pod of a branch, by kubectl.
func (a *app) psql(ctx context.Context, flags []string, name string, args []string) error {
	c, namespace, err := a.connect()
	if err != nil {
		return err
	}
	r, key := gather.Reader{Reader: c}, client.ObjectKey{Namespace: namespace, Name: name}
	b, err := r.OneBranch(ctx, key)
	if err != nil {
		return err
	}
	if err := branch.Usable(b); err != nil {
		return err
	}
	cr, err := r.Target(ctx, key)
	if err != nil {
		return err
	}
	inPod, err := branch.Psql(cr, isTerminal(a.streams.In), args)
	if err != nil {
		return err
	}
	return a.kubectl(ctx, append(append(flags, "--namespace="+namespace), inPod...))
}

// connection returns the connection flags that are set, for kubectl. The timeout of a request
// would end the session.
func connection(flags *pflag.FlagSet) []string {
	var out []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Changed || f.Name == "namespace" || f.Name == "request-timeout" {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			out = append(out, "--"+f.Name+"="+v)
		}
	})
	return out
}

// kubectl runs kubectl with the streams of this command. Its error has its exit code.
func (a *app) kubectl(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, "kubectl", args...) //nolint:gosec // G204: kubectl has the rights of the user of this command
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.streams.In, a.streams.Out, a.streams.ErrOut
	// An interrupted kubectl resets the terminal before it ends.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("this command runs kubectl exec: %w", err)
	}
	return err
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
