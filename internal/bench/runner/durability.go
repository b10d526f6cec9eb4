package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Durability is what an acknowledged commit waits for, as the server has it.
type Durability struct {
	Fsync                   string `json:"fsync"`
	SynchronousCommit       string `json:"synchronousCommit"`
	SynchronousStandbyNames string `json:"synchronousStandbyNames"`
	// Standbys are the sync_state of each standby; empty where the role may not
	// see it.
	Standbys []string `json:"standbys,omitempty"`
	// Follows says that the server replays the WAL of another one, and takes no writes.
	Follows bool `json:"follows,omitempty"`
}

// durability as pgbench's sessions have it. The observer reads the standbys, where there is
// one: the benchmark's role cannot see their state.
func (d *database) durability(ctx context.Context, o Observer) (Durability, error) {
	var found Durability
	err := session(ctx, d.config, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT current_setting('fsync'), current_setting('synchronous_commit'),
			current_setting('synchronous_standby_names'), pg_is_in_recovery()`).Scan(&found.Fsync, &found.SynchronousCommit, &found.SynchronousStandbyNames, &found.Follows)
	})
	if err != nil {
		return found, fmt.Errorf("durability of the server: %w", err)
	}
	standbys := d.standbys
	if o != nil {
		standbys = o.Standbys
	}
	if found.Standbys, err = standbys(ctx); err != nil {
		return found, fmt.Errorf("standbys of the server: %w", err)
	}
	return found, nil
}

// standbys as the benchmark's role sees them: how many there are.
func (d *database) standbys(ctx context.Context) (states []string, err error) {
	err = session(ctx, d.config, queryTimeout, func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, `SELECT coalesce(sync_state, '') FROM pg_stat_replication ORDER BY 1`)
		if err != nil {
			return err
		}
		states, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return states, err
}

// meets says why the server does not keep what the tier states. A figure must
// never stand under a tier that it was not measured at. Ephemeral states nothing that a
// server could lack.
func (d Durability) meets(tier v1alpha1.DurabilityTier) error {
	switch readOnly := tier == v1alpha1.DurabilityReadOnly; {
	case readOnly && !d.Follows:
		return &Failure{Reason: ReasonDurabilityMismatch, Err: errNotFollowing}
	case readOnly, tier == v1alpha1.DurabilityEphemeral:
		return nil
	}
	if d.Fsync != "on" {
		return mismatch(tier, "fsync is %s", d.Fsync)
	}
	if tier == v1alpha1.DurabilityAsync {
		return nil
	}
	if d.SynchronousCommit != "on" && d.SynchronousCommit != "remote_apply" {
		return mismatch(tier, "synchronous_commit is %s", d.SynchronousCommit)
	}
	if tier != v1alpha1.DurabilityQuorum {
		return nil
	}
	return d.meetsQuorum(tier)
}

// meetsQuorum says why a commit does not wait for a standby.
func (d Durability) meetsQuorum(tier v1alpha1.DurabilityTier) error {
	if strings.TrimSpace(d.SynchronousStandbyNames) == "" {
		return mismatch(tier, "synchronous_standby_names is empty")
	}
	hidden := slices.Contains(d.Standbys, "")
	synchronous := slices.Contains(d.Standbys, "sync") || slices.Contains(d.Standbys, "quorum")
	if !hidden && !synchronous {
		return mismatch(tier, "no standby is synchronous: pg_stat_replication has %q", d.Standbys)
	}
	return nil
}

func mismatch(tier v1alpha1.DurabilityTier, format string, args ...any) error {
	return &Failure{Reason: ReasonDurabilityMismatch, Err: fmt.Errorf("the cluster states durability %s, but %s", tier, fmt.Sprintf(format, args...))}
}
