package decide

import "context"

// ForgetReturning clears the record of returning devices, because the profile does not
// declare the first of them any more. It clears the record of all of them.
type ForgetReturning struct{}

// String names the action.
func (ForgetReturning) String() string { return "forget returning devices" }

// Execute calls ForgetReturning of e.
func (a ForgetReturning) Execute(ctx context.Context, e NetworkExecutor) error {
	return e.ForgetReturning(ctx, a)
}
