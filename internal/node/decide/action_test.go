package decide

import "testing"

// While ZFS does not answer, no action may change a pool or what it is on.
func TestOnlyReconnectionsAndRestartsAreSafeWithoutZFS(t *testing.T) {
	for _, c := range []struct {
		action NetworkAction
		safe   bool
	}{
		{LoadDriver{}, false}, {DetachDevices{}, false}, {EnsureExports{}, false}, {AttachDevices{}, false},
		{ReconnectDevices{}, true},
		{DropDevices{}, false}, {ReattachDevices{}, false}, {OnlineDevice{}, false}, {ForgetReturning{}, false},
		{StartScrub{}, false}, {FinishScrub{}, false}, {ExpandPool{}, false}, {ReleasePool{}, false},
		{AnnounceRestart{}, true}, {RestartNode{}, true}, {nil, false},
	} {
		if got := WithoutZFS(c.action) != nil; got != c.safe {
			t.Errorf("%T: got safe=%v, want %v", c.action, got, c.safe)
		}
	}
}
