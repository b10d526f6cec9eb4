package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/gather"
	"github.com/pgstorage/pgstorage/internal/cli/verify"
)

// verifyOptions are the flags of verify.
type verifyOptions struct {
	wait    bool
	timeout time.Duration
}

// errVerifyTimeout ends the command, not the verification.
var errVerifyTimeout = errors.New("timeout expired; the operator continues, and kubectl pgstorage status shows the result")

func (a *app) verify() *cobra.Command {
	o := &verifyOptions{}
	c := verifyHelp.command()
	c.Args = cobra.ExactArgs(1)
	c.ValidArgsFunction = a.completeFirst("PgStorageCluster")
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.timeout < 0 || o.timeout > 0 && !o.wait {
			return errors.New("--timeout must be more than 0, such as 1h, and needs --wait")
		}
		return a.runVerify(c.Context(), o, args[0])
	}
	f := c.Flags()
	f.BoolVar(&o.wait, "wait", false, "show each phase until the verification ends, and then its result")
	f.DurationVar(&o.timeout, "timeout", 0, "maximum time to wait, such as 1h; 0 waits until the verification ends")
	return c
}

func (a *app) runVerify(ctx context.Context, o *verifyOptions, name string) error {
	c, namespace, err := a.connect()
	if err != nil {
		return err
	}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	cr, err := gather.Reader{Reader: c}.Target(ctx, key)
	if err != nil {
		return err
	}
	if err := verify.Refusal(cr); err != nil {
		return err
	}
	at := verify.Time(cr, a.clock.Now())
	asked := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := c.Patch(ctx, asked, client.RawPatch(types.MergePatchType, verify.Patch(at))); err != nil {
		return fmt.Errorf("annotate PgStorageCluster %s: %w", key, err)
	}
	text := fmt.Sprintf("Requested a verification of the backups of %s.\n", key)
	if !o.wait {
		text += fmt.Sprintf("See its result with: kubectl pgstorage status %s -n %s\n", name, namespace)
	}
	if _, err := fmt.Fprint(a.streams.Out, text); err != nil || !o.wait {
		return err
	}
	return a.followVerification(ctx, c, key, at, o.timeout)
}

// followVerification shows the phases of a verification until it ends, and then its result.
func (a *app) followVerification(ctx context.Context, c client.Client, key client.ObjectKey, at time.Time, timeout time.Duration) error {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errVerifyTimeout)
		defer cancel()
	}
	f := &verify.Follower{Get: siteAccess{client: c, key: key}.Get, Now: a.clock.Now, Pause: pause, Out: a.streams.Out}
	result, err := f.Follow(ctx, at)
	switch {
	case errors.Is(context.Cause(ctx), errVerifyTimeout):
		return errVerifyTimeout
	case ctx.Err() != nil:
		return errors.New("interrupted; the operator continues, and kubectl pgstorage status shows the result")
	case err != nil:
		return err
	}
	if _, err := fmt.Fprint(a.streams.Out, verify.Text(result)); err != nil {
		return err
	}
	if !result.Passed() {
		return ErrFindings
	}
	return nil
}
