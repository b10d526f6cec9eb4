package agent

import (
	"context"

	"github.com/pgstorage/pgstorage/internal/node/decide"
)

// ForgetReturning clears the record of returning devices.
func (e networkExecutor) ForgetReturning(context.Context, decide.ForgetReturning) error {
	e.net.Record.Returning, e.net.Record.Asked = nil, nil
	return e.save()
}
