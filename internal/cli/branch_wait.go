package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/branch"
)

// waitOptions are the flags of the branch commands that wait.
type waitOptions struct {
	wait    bool
	timeout time.Duration
}

func (o *waitOptions) flags(c *cobra.Command, wait bool, usage string) {
	c.Flags().BoolVar(&o.wait, "wait", wait, usage)
	c.Flags().DurationVar(&o.timeout, "timeout", 0, "maximum time to wait, such as 10m; 0 waits without a limit")
}

func (o *waitOptions) validate() error {
	if o.timeout < 0 || o.timeout > 0 && !o.wait {
		return errors.New("--timeout must be more than 0, such as 10m, and needs --wait")
	}
	return nil
}

// applyOptions are the flags of the branch commands that change a branch only with --apply.
type applyOptions struct {
	waitOptions
	apply bool
}

func (o *applyOptions) flags(c *cobra.Command, apply, wait string) {
	c.Flags().BoolVar(&o.apply, "apply", false, apply)
	o.waitOptions.flags(c, false, wait)
}

func (o *applyOptions) validate() error {
	if o.wait && !o.apply {
		return errors.New("--wait needs --apply")
	}
	return o.waitOptions.validate()
}

// errBranchTimeout ends the command, not what the operator does.
var errBranchTimeout = errors.New("timeout expired")

// waitForBranch shows the progress of a branch until it reaches a goal. A timeout of 0 is
// none.
func (a *app) waitForBranch(ctx context.Context, c client.Client, b *v1alpha1.PgStorageBranch, goal branch.Goal, timeout time.Duration) (*v1alpha1.PgStorageBranch, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errBranchTimeout)
		defer cancel()
	}
	show := newProgress(a.streams.Out)
	f := &branch.Follower{Pause: pause, Show: show.show, Get: func(ctx context.Context) (*v1alpha1.PgStorageBranch, error) {
		o := &v1alpha1.PgStorageBranch{}
		return o, c.Get(ctx, client.ObjectKeyFromObject(b), o)
	}}
	last, err := f.Follow(ctx, b.UID, goal)
	show.end()
	switch {
	case errors.Is(context.Cause(ctx), errBranchTimeout):
		return nil, stopped(errBranchTimeout.Error(), b, last, goal)
	case ctx.Err() != nil:
		return nil, stopped("interrupted", b, last, goal)
	}
	return last, err
}

// stopped says what a branch did when the wait for it ended, and that the operator continues.
func stopped(why string, b, last *v1alpha1.PgStorageBranch, goal branch.Goal) error {
	text := fmt.Sprintf("%s; PgStorageBranch %s is not %s", why, b.Name, goal)
	if last != nil {
		text += ": " + goal.Line(last)
	}
	return fmt.Errorf("%s; the operator continues, and kubectl pgstorage status pgbr/%s -n %s shows its state", text, b.Name, b.Namespace)
}
