package supervise

import (
	"sync"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// deaths of a process' database.
type deaths struct {
	// receive gets the first one.
	receive func(*zerofs.Failure)

	mu    sync.Mutex
	worst *zerofs.Failure
}

func (d *deaths) line(text string) {
	death := zerofs.Death(text)
	if death == nil {
		return
	}
	d.mu.Lock()
	first := d.worst == nil
	if first || death.Reason == zerofs.ReasonFenced {
		d.worst = death
	}
	d.mu.Unlock()
	if first {
		d.receive(death)
	}
}

// failure that counts: the first, but that another server has the prefix before all.
// nil: there was none.
func (d *deaths) failure() *zerofs.Failure {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.worst
}
