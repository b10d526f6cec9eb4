package decide

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// ObservedDevices are the devices as the status shows them; a detached one has its link.
func ObservedDevices(s *v1alpha1.PgNodeStorage, n *Network) []v1alpha1.ObservedNetworkDevice {
	urls := map[string]string{}
	for _, server := range s.Spec.NetworkDevices.Servers {
		urls[server.Name] = server.URL
	}
	var out []v1alpha1.ObservedNetworkDevice
	for _, d := range n.Devices {
		o := v1alpha1.ObservedNetworkDevice{
			Path: d.Link, Server: d.Server, Export: d.Export, URL: urls[d.Server], State: string(n.State(d)),
		}
		if a := d.Attached; a != nil {
			o.Path, o.Size, o.Incarnation = a.Path, amount(a.Bytes), a.Life
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b v1alpha1.ObservedNetworkDevice) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// flushLatency keeps an old one that the new one is within a quarter of, or that
// nothing was measured since.
func flushLatency(old *metav1.Duration, now time.Duration) *metav1.Duration {
	now = now.Round(100 * time.Microsecond)
	if now == 0 || old != nil && (now-old.Duration).Abs() < old.Duration/4 {
		return old
	}
	return &metav1.Duration{Duration: now}
}
