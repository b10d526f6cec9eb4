package decide

import (
	"context"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// LoadDriver loads the kernel module nbd.
type LoadDriver struct{}

// String names the action.
func (LoadDriver) String() string { return "load driver" }

// Execute calls LoadDriver of e.
func (a LoadDriver) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.LoadDriver(ctx, a)
}

func (d networkDecider) loadDriver() NetworkDecision {
	decision := networkWait(v1alpha1.ReasonAttaching, msgLoadingDriver)
	decision.Action = LoadDriver{}
	return decision
}
