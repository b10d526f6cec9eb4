package agent

import (
	"context"
	"time"

	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// FinishScrub records that no scrub is due any more, and that no device is suspect.
func (e networkExecutor) FinishScrub(context.Context, decide.FinishScrub) error {
	e.net.Record.Scrub, e.net.Record.ScrubSince, e.net.Record.Suspect = false, time.Time{}, nil
	return e.save()
}
