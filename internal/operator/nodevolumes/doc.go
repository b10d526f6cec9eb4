// Package nodevolumes reads what the agents of nodes report about volumes and devices.
// It believes each agent about its own node only. It is pure: callers pass the objects.
package nodevolumes

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// Driver is the CSI driver whose volumes agents read back (OpenEBS zfs-localpv).
const Driver = "zfs.csi.openebs.io"

// TopologyKeys are the labels by which the driver identifies a node, the preferred one
// first (zfs-localpv pkg/driver/agent.go, NodeGetInfo).
var TopologyKeys = []string{"openebs.io/nodeid", "openebs.io/nodename"}

// unreachable is the message of a PgNodeStorage whose node is not Ready; empty for a
// node that is.
func unreachable(s *v1alpha1.PgNodeStorage) string {
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionNodeReachable)
	if c == nil || c.Status == metav1.ConditionTrue {
		return ""
	}
	return c.Message
}
