package cephrbd

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/pgstorage/pgstorage/internal/operator/profile/cephrbd/rook"
)

// poolDiffers lists what of a CephBlockPool is not as declared: in its spec, and in
// what Rook says that it has made of it.
func poolDiffers(want rook.PoolSpec, seen ObservedPool) []string {
	var out []string
	tell := func(what string, have, want any) {
		if have != want {
			out = append(out, fmt.Sprintf("%s %v (declared: %v)", what, have, want))
		}
	}
	have := seen.Spec
	tell("failureDomain", have.FailureDomain, want.FailureDomain)
	tell("crushRoot", have.CrushRoot, want.CrushRoot)
	tell("deviceClass", have.DeviceClass, want.DeviceClass)
	tell("replicated.size", copiesIn(have), copiesIn(want))
	tell("erasureCoded", chunksIn(have), chunksIn(want))
	for _, name := range slices.Sorted(maps.Keys(want.Parameters)) {
		tell("parameters."+name, have.Parameters[name], want.Parameters[name])
	}
	if made := seen.Status.Info["failureDomain"]; made != "" && seen.Status.ObservedGeneration == seen.Generation {
		tell("status.info.failureDomain", made, want.FailureDomain)
	}
	return out
}

func copiesIn(s rook.PoolSpec) int32 {
	if s.Replicated == nil {
		return 0
	}
	return ptr.Deref(s.Replicated.Size, 0)
}

func chunksIn(s rook.PoolSpec) string {
	e := s.ErasureCoded
	if e == nil || ptr.Deref(e.DataChunks, 0) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d+%d", ptr.Deref(e.DataChunks, 0), ptr.Deref(e.CodingChunks, 0))
}
