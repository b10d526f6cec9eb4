package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/branch"
)

func (a *app) branch() *cobra.Command {
	c := branchHelp.command()
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(a.branchCreate(), a.branchList(), a.branchDelete(), a.branchPromote(), a.branchPsql())
	return c
}

// branchCreateOptions are the flags of branch create.
type branchCreateOptions struct {
	branch.Options
	waitOptions
	dryRun string
}

func (a *app) branchCreate() *cobra.Command {
	o, s := &output{}, &branchCreateOptions{}
	c := branchCreateHelp.command()
	c.Args = cobra.ExactArgs(1)
	c.ValidArgsFunction = a.completeFirst("PgStorageCluster")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := errors.Join(s.validate(), o.validate()); err != nil {
			return err
		}
		if o.format != "" && s.wait && s.dryRun == dryNone {
			return errors.New("--output needs --wait=false or --dry-run, because the progress is text")
		}
		return a.createBranch(c.Context(), args[0], s, o)
	}
	o.createFlag(c)
	s.flags(c)
	return c
}

func (s *branchCreateOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.Name, "name", "", "name of the branch and of its PgStorageCluster; required")
	f.StringVar(&s.TTL, "ttl", "", "time until the operator deletes the branch with its data, such as 24h (default: the branch does not expire)")
	f.StringVar(&s.Mask, "mask", "", "CONFIGMAP[/KEY] with SQL that runs before anyone can connect (default key: mask.sql)")
	f.BoolVar(&s.FromBackup, "from-backup", false, "restore from the backups of the source instead of a snapshot of its volumes")
	f.StringVar(&s.Target.TargetTime, "target-time", "", "end of the restore, such as 2026-03-01T12:00:00Z; needs --from-backup")
	f.StringVar(&s.Target.TargetLSN, "target-lsn", "", "end of the restore as a position in WAL, such as 0/3000060; needs --from-backup")
	f.StringVar(&s.Target.TargetName, "target-name", "", "end of the restore as the name of a restore point; needs --from-backup and --backup-id")
	f.StringVar(&s.Target.BackupID, "backup-id", "", "ID of the base backup that the restore starts from, such as 20260301T023000; needed by --target-name (default: the newest before the target)")
	f.StringVar(&s.CPU, "cpu", "", "CPU request of the instance, such as 500m (default: as the source)")
	f.StringVar(&s.Memory, "memory", "", "memory request and limit of the instance, such as 2Gi (default: as the source)")
	dryRunFlag(c, &s.dryRun)
	s.waitOptions.flags(c, true, "show the progress until the branch is Ready")
	c.MarkFlagsRequiredTogether("cpu", "memory")
	c.MarkFlagsMutuallyExclusive("target-time", "target-lsn", "target-name")
	if err := c.MarkFlagRequired("name"); err != nil {
		panic(err) // a bug: the flag is not declared
	}
}

func (a *app) createBranch(ctx context.Context, source string, s *branchCreateOptions, o *output) error {
	namespace, err := a.namespace()
	if err != nil {
		return err
	}
	b, err := branch.New(namespace, source, s.Options)
	if err != nil {
		return err
	}
	c, err := a.create(ctx, &creation{
		object: b, dryRun: s.dryRun, cluster: source, consent: branch.Consent,
		hint: "See its state with: kubectl pgstorage status pgbr/%s -n %s\n", wait: s.wait,
	}, o)
	if err != nil || !s.wait || s.dryRun != dryNone {
		return err
	}
	if b, err = a.waitForBranch(ctx, c, b, branch.Ready, s.timeout); err != nil {
		return err
	}
	_, err = fmt.Fprint(a.streams.Out, branch.Outcome(b))
	return err
}

func (a *app) branchList() *cobra.Command {
	o, all := &output{}, false
	c := branchListHelp.command()
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return a.listBranches(c.Context(), o, all) }
	o.flag(c)
	c.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list the branches of all namespaces")
	return c
}

func (a *app) listBranches(ctx context.Context, o *output, all bool) error {
	list := &v1alpha1.PgStorageBranchList{}
	namespace, err := a.list(ctx, list, all)
	if err != nil {
		return fmt.Errorf("list PgStorageBranches: %w", err)
	}
	rows, items := branch.Rows(list.Items), []*v1alpha1.PgStorageBranch{}
	for _, r := range rows {
		r.Branch.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(branch.Kind))
		items = append(items, r.Branch)
	}
	return o.print(a.streams.Out, items, func() (string, error) {
		if len(rows) == 0 {
			return fmt.Sprintf("No PgStorageBranches found in %s.\n", where(namespace)), nil
		}
		return branch.ListText(rows, a.clock.Now(), all), nil
	})
}
