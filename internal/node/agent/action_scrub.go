package agent

import (
	"context"
	"errors"

	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// StartScrub starts a scrub of the pool. It records the time first: a later pass
// recognises the scrub by it.
func (e networkExecutor) StartScrub(ctx context.Context, _ decide.StartScrub) error {
	e.net.Record.ScrubSince = e.Clock.Now().UTC()
	return errors.Join(e.save(), e.ZFS.Scrub(ctx, e.pool))
}
