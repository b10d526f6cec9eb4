package zfsvolumes

import (
	"fmt"
	"slices"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/component/nodes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// Judge each node by what its agent and the driver say.
func (s Storage) Judge(facts observed.Profile) []nodes.Verdict {
	return nodes.Judge(facts, func(v *nodes.Verdict) { csi(v, s.Pool, facts) })
}

// csi judges what the driver reports of the node.
func csi(v *nodes.Verdict, pool string, facts observed.Profile) {
	v.Driver, v.Kind = true, outcome.Wait
	switch {
	case !facts.ZFSLocalPV:
		v.Reason, v.Message = v1alpha1.ReasonDriverNotInstalled, "OpenEBS zfs-localpv is not installed"
	case v.TopologyKey == "":
		v.Reason, v.Message = v1alpha1.ReasonDriverNotOnNode, "the CSI driver "+Driver+" is not registered on the node; does a pod of its node DaemonSet run there?"
	case !slices.Contains(v.Pools, pool):
		v.Reason, v.Message = v1alpha1.ReasonPoolNotListed, fmt.Sprintf("the driver's ZFSNode does not list pool %s yet; it is renewed every 60 s", pool)
	default:
		v.Driver, v.Kind = false, outcome.Done
	}
}

func driverOutcome(facts observed.Profile, judged []nodes.Verdict) outcome.Outcome {
	const c = v1alpha1.ConditionDriverReady
	if !facts.ZFSLocalPV {
		return outcome.WaitFor(c, v1alpha1.ReasonDriverNotInstalled, "OpenEBS zfs-localpv is not installed; install its Helm chart (https://openebs.github.io/zfs-localpv)")
	}
	if o, bad := nodes.Worst(c, judged, nodes.Verdict.DriverFails); bad {
		return o
	}
	return outcome.DoneWith(c, v1alpha1.ReasonDriverReady, "the CSI driver lists the pool on every node that is ready")
}

func (s Storage) nodesOutcome(judged []nodes.Verdict) outcome.Outcome {
	return nodes.Outcome(s.Profile, judged, fmt.Sprintf("pool %s and its datasets were read back as declared", s.Pool))
}
