package integration

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// interposed acts between the read and the write of a manager.
type interposed struct {
	inner http.RoundTripper
	// path ends that of the object whose next apply waits for act.
	path string
	act  atomic.Pointer[func()]
	// rejected counts the statuses with the reason Rejected.
	rejected atomic.Int64
}

func (i *interposed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPatch {
		return i.inner.RoundTrip(r)
	}
	if strings.HasSuffix(r.URL.Path, i.path) {
		if act := i.act.Swap(nil); act != nil {
			(*act)()
		}
	}
	if strings.HasSuffix(r.URL.Path, "/status") && r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte(`"`+v1alpha1.ReasonRejected+`"`)) {
			i.rejected.Add(1)
		}
	}
	return i.inner.RoundTrip(r)
}

// into returns a configuration whose requests pass through i.
func (i *interposed) into(c *rest.Config) *rest.Config {
	own := rest.CopyConfig(c)
	own.Wrap(func(inner http.RoundTripper) http.RoundTripper {
		i.inner = inner
		return i
	})
	return own
}

// A Cluster that goes between the read and the write of a pass is not created again, empty.
// One that has its name by then stays as it is.
func TestClusterThatGoesBeforeAWriteIsNotCreatedAgain(t *testing.T) {
	c := apiserver.Client(t, config)
	for _, tc := range []struct{ name, storage, reason string }{
		{"gone", "outdated-gone", v1alpha1.ReasonClusterDeleted},
		{"replaced", "outdated-replaced", v1alpha1.ReasonClusterNotOwned},
	} {
		t.Run(tc.name, func(t *testing.T) {
			i := &interposed{path: "/clusters/shop"}
			manager.Start(t, i.into(config))
			ns := namespace(t, c)
			storage(t, c, tc.storage)
			cr := cluster(ns, "shop", tc.storage)
			create(t, c, cr)
			key := client.ObjectKeyFromObject(cr)
			simulatedHealthy(t, c, key)
			hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
			first := get(t, c, key, &cnpgv1.Cluster{})
			act := func() {
				err := c.Delete(t.Context(), first)
				if tc.reason == v1alpha1.ReasonClusterNotOwned {
					err = errors.Join(err, c.Create(t.Context(), strange(key)))
				}
				if err != nil {
					t.Error(err)
				}
			}
			i.act.Store(&act)
			changed(t, c, cr, func() { cr.Spec.Postgres.Parameters = map[string]string{"work_mem": "8MB"} })
			hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, tc.reason)
			if i.act.Load() != nil {
				t.Fatal("nothing was applied")
			}
			if n := i.rejected.Load(); n > 0 {
				t.Errorf("%d statuses say that the API server rejects the Cluster", n)
			}
			if tc.reason == v1alpha1.ReasonClusterDeleted {
				absent(t, c, key, &cnpgv1.Cluster{})
				return
			}
			if now := get(t, c, key, &cnpgv1.Cluster{}); now.Labels[naming.LabelManagedBy] != "" || now.Spec.Instances != 2 {
				t.Errorf("it became %+v with %d instances", now.ObjectMeta, now.Spec.Instances)
			}
		})
	}
}

// strange is a Cluster that no PgStorageCluster made.
func strange(key client.ObjectKey) *cnpgv1.Cluster {
	return &cnpgv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec:       cnpgv1.ClusterSpec{Instances: 2, StorageConfiguration: cnpgv1.StorageConfiguration{Size: "5Gi"}},
	}
}
