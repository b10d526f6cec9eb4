package decide

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// phaseEnded is the phase of a server that does not live, which the server cannot report.
const phaseEnded = "Ended"

// ObservedServers are the servers as the status shows them, where anything is known of one.
// Figures that change all the time keep the value of the last status until they moved by much.
func ObservedServers(s *v1alpha1.PgNodeStorage, n *Network) []v1alpha1.ObservedServer {
	var out []v1alpha1.ObservedServer
	for _, server := range s.Spec.NetworkDevices.Servers {
		life, read := n.Lives[server.Name]
		told := n.Servers[server.Name]
		if !read || life.ID == "" {
			continue
		}
		last := v1alpha1.ObservedServer{}
		if i := slices.IndexFunc(s.Status.Servers, func(o v1alpha1.ObservedServer) bool { return o.Name == server.Name }); i >= 0 {
			last = s.Status.Servers[i]
		}
		o := v1alpha1.ObservedServer{Name: server.Name, URL: server.URL}
		if told.Life == life.ID {
			copyReport(&o, told, last)
		} else {
			o.Phase = string(zerofs.PhaseStarting)
		}
		if !n.Runs(server.Name) && !n.Fenced(server.Name) {
			o.Phase, o.Since, o.Message = phaseEnded, nil, ""
		}
		out = append(out, o)
	}
	return out
}

// copyReport copies what a server reported in this life.
func copyReport(o *v1alpha1.ObservedServer, told zerofs.ServerStatus, last v1alpha1.ObservedServer) {
	since := metav1.NewTime(told.Since.Truncate(1e9)) // as the API server keeps it
	o.Phase, o.Since, o.Restarts = string(told.Phase), &since, told.Restarts
	if told.Phase != zerofs.PhaseServing {
		o.Message = told.Message
		if told.Reason != "" {
			o.Message = told.Reason + ": " + told.Message
		}
	}
	if told.S3 == nil {
		return
	}
	o.StoreErrors = told.S3.Errors
	if old := last.StoreErrors; o.StoreErrors > old && o.StoreErrors < 2*old {
		o.StoreErrors = old
	}
	o.SentToStore = tenth(last.SentToStore, told.S3.SentBytes)
	o.CacheHitPercent = steady(last.CacheHitPercent, hits(told.Reads-told.S3.Requests["GET"], told.Reads))
}

// hits in percent of all; nil without any. ZeroFS also gets objects without a reader, its
// manifests, so the result could fall below 0; it is clamped at zero.
func hits(hits, all int64) *int32 {
	if all <= 0 {
		return nil
	}
	return new(int32(max(0, hits) * 100 / all)) //nolint:gosec // at most 100
}

// tenth keeps an old amount that the new one is within a tenth of.
func tenth(old *resource.Quantity, now int64) *resource.Quantity {
	if old != nil && max(now-old.Value(), old.Value()-now) <= old.Value()/10 {
		q := old.DeepCopy()
		return &q
	}
	return twoDigits(now)
}

// twoDigits of an amount in bytes, in the unit of which there are at least ten.
func twoDigits(n int64) *resource.Quantity {
	unit := int64(1)
	for n/unit >= 10<<10 {
		unit <<= 10
	}
	step := int64(1)
	for n/unit/step >= 100 {
		step *= 10
	}
	return resource.NewQuantity((n/unit+step/2)/step*step*unit, resource.BinarySI)
}

// monthlyStorage is what is stored of a pool, in all its stores.
func monthlyStorage(s *v1alpha1.PgNodeStorage, pool *v1alpha1.ObservedPool) *resource.Quantity {
	if s.Spec.NetworkDevices == nil {
		return nil
	}
	return twoDigits(pool.Allocated.Value() * int64(len(s.Spec.NetworkDevices.Servers)))
}
