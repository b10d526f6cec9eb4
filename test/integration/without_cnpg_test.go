package integration

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// A manager that starts before the operators that it needs runs, and reports what is missing.
func TestManagerStartsWithoutForeignCRDs(t *testing.T) {
	env, stop, err := apiserver.Start(apiserver.CRDs{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Log(err)
		}
	})
	c := apiserver.Client(t, env.Config)
	stopManager := manager.Start(t, env.Config)
	storage(t, c, "bare")
	cr := cluster("default", "shop", "bare")
	create(t, c, cr)
	got := hasCondition(t, c, cr, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonCNPGNotInstalled)
	if !strings.Contains(got.Message, "install version 1.28 or newer") {
		t.Errorf("no remedy in %q", got.Message)
	}
	hasCondition(t, c, cr, v1alpha1.ConditionMonitored, metav1.ConditionFalse, v1alpha1.ReasonCRDNotInstalled)
	stopManager()
}
