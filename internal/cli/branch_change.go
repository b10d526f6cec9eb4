package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/branch"
	"github.com/pgstorage/pgstorage/internal/cli/gather"
)

func (a *app) branchDelete() *cobra.Command {
	o := &applyOptions{}
	c := branchDeleteHelp.command()
	c.Args = cobra.MinimumNArgs(1)
	c.ValidArgsFunction = a.completeEach(branch.Kind)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := o.validate(); err != nil {
			return err
		}
		return a.deleteBranches(c.Context(), o, args)
	}
	o.flags(c, "delete the branches with their data", "wait until the branches are deleted")
	return c
}

func (a *app) deleteBranches(ctx context.Context, o *applyOptions, names []string) error {
	c, namespace, err := a.connect()
	if err != nil {
		return err
	}
	found, err := branchesNamed(ctx, c, namespace, names)
	if err != nil {
		return err
	}
	text := branch.DeletionText(found)
	if !o.apply {
		text += "Nothing was deleted. --apply deletes these branches.\n"
	}
	if _, err := fmt.Fprint(a.streams.Out, text); err != nil || !o.apply {
		return err
	}
	for _, b := range found {
		if err := a.deleteBranch(ctx, c, b); err != nil {
			return err
		}
	}
	if !o.wait {
		return nil
	}
	return a.waitForDeletions(ctx, c, found, o.timeout)
}

// branchesNamed reads branches. It returns an error if one of them does not exist.
func branchesNamed(ctx context.Context, c client.Client, namespace string, names []string) ([]*v1alpha1.PgStorageBranch, error) {
	var out []*v1alpha1.PgStorageBranch
	for _, name := range names {
		b, err := gather.Reader{Reader: c}.OneBranch(ctx, client.ObjectKey{Namespace: namespace, Name: name})
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// deleteBranch deletes a branch. The UID keeps it from one that took its name since.
func (a *app) deleteBranch(ctx context.Context, c client.Client, b *v1alpha1.PgStorageBranch) error {
	if err := client.IgnoreNotFound(c.Delete(ctx, b, client.Preconditions{UID: &b.UID})); err != nil {
		return fmt.Errorf("delete PgStorageBranch %s/%s: %w", b.Namespace, b.Name, err)
	}
	_, err := fmt.Fprintf(a.streams.Out, "pgstoragebranch.pgstorage.dev/%s deletion requested\n", b.Name)
	return err
}

// waitForDeletions waits for all branches together, because a branch waits for its children.
func (a *app) waitForDeletions(ctx context.Context, c client.Client, deleted []*v1alpha1.PgStorageBranch, timeout time.Duration) error {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errBranchTimeout)
		defer cancel()
	}
	for _, b := range deleted {
		if _, err := a.waitForBranch(ctx, c, b, branch.Gone, 0); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.streams.Out, "pgstoragebranch.pgstorage.dev/%s deleted\n", b.Name); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) branchPromote() *cobra.Command {
	o := &applyOptions{}
	c := branchPromoteHelp.command()
	c.Args = cobra.ExactArgs(1)
	c.ValidArgsFunction = a.completeFirst(branch.Kind)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := o.validate(); err != nil {
			return err
		}
		return a.promoteBranch(c.Context(), o, args[0])
	}
	o.flags(c, "promote the branch; it cannot be undone", "show the progress until the branch is independent")
	return c
}

func (a *app) promoteBranch(ctx context.Context, o *applyOptions, name string) error {
	c, namespace, err := a.connect()
	if err != nil {
		return err
	}
	b, err := gather.Reader{Reader: c}.OneBranch(ctx, client.ObjectKey{Namespace: namespace, Name: name})
	if err != nil {
		return err
	}
	if err := branch.PromotionRefusal(b); err != nil {
		return err
	}
	text := branch.PromotionText(b)
	if !b.Spec.Promote && !o.apply {
		text += "Nothing was changed. --apply promotes the branch.\n"
	}
	if _, err := fmt.Fprint(a.streams.Out, text); err != nil || !o.apply || b.Status.Independent {
		return err
	}
	return a.declarePromotion(ctx, c, o, b)
}

// declarePromotion sets spec.promote of a branch, and waits for it or says how to see it.
func (a *app) declarePromotion(ctx context.Context, c client.Client, o *applyOptions, b *v1alpha1.PgStorageBranch) error {
	if !b.Spec.Promote {
		if err := c.Patch(ctx, b, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"promote":true}}`))); err != nil {
			return fmt.Errorf("set spec.promote of PgStorageBranch %s/%s: %w", b.Namespace, b.Name, err)
		}
	}
	text := fmt.Sprintf("See the promotion with: kubectl pgstorage status pgbr/%s -n %s\n", b.Name, b.Namespace)
	if o.wait {
		if _, err := a.waitForBranch(ctx, c, b, branch.Independent, o.timeout); err != nil {
			return err
		}
		text = fmt.Sprintf("PgStorageBranch %s is independent of %s.\n", b.Name, b.Spec.Source.Cluster)
	}
	_, err := fmt.Fprint(a.streams.Out, text)
	return err
}
