// Package foreign starts the watches of kinds that are not ours, from the first pass
// that sees their CRDs. So the operator runs, and reports what is missing, before they
// are installed.
package foreign

import (
	"fmt"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Watch is one kind and when it can be watched.
type Watch struct {
	Kind client.Object
	// Served says whether its CRD is there.
	Served func(observed.ForeignAPIs) bool
	Source source.Source
}

// Watches starts each of a controller's watches once.
type Watches struct {
	controller controller.Controller

	mu      sync.Mutex
	pending []Watch
}

// New returns watches of a controller, none of them started.
func New(c controller.Controller, watches ...Watch) *Watches {
	return &Watches{controller: c, pending: watches}
}

// Start starts what is served and was not started before. One that fails is
// tried again in the next pass; those started before it are not.
func (w *Watches) Start(apis observed.ForeignAPIs) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var later []Watch
	for i, watch := range w.pending {
		if !watch.Served(apis) {
			later = append(later, watch)
			continue
		}
		if err := w.controller.Watch(watch.Source); err != nil {
			w.pending = append(later, w.pending[i:]...)
			return fmt.Errorf("watch %T: %w", watch.Kind, err)
		}
	}
	w.pending = later
	return nil
}
