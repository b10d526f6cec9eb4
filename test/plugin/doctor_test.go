package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/config/rbac"
	"github.com/pgstorage/pgstorage/internal/cli"
	"github.com/pgstorage/pgstorage/internal/cli/doctor"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// findings returns the findings of doctor in an area, by subject.
func findings(t *testing.T, area string, args ...string) (map[string]doctor.Finding, error) {
	t.Helper()
	out, err := plugin(t, append([]string{"doctor", "-o", "json"}, args...)...)
	var all []doctor.Finding
	if jsonErr := json.Unmarshal([]byte(out), &all); jsonErr != nil {
		t.Fatalf("%v: %v\n%s", err, jsonErr, out)
	}
	of := map[string]doctor.Finding{}
	for _, f := range all {
		if f.Area == area {
			of[f.Subject] = f
		}
	}
	return of, err
}

func TestDoctorFindsTheOperator(t *testing.T) {
	c := apiserver.Client(t, config)
	operator, err := findings(t, "Operator")
	if !errors.Is(err, cli.ErrFindings) || operator["manager"].Level != doctor.Failure || operator["manager"].Remedy == "" {
		t.Errorf("before the operator is there: %v %+v", err, operator)
	}
	installed(t, c)
	operator, err = findings(t, "Operator")
	for _, subject := range []string{"plugin-doctor/pgstorage-manager", "ClusterRole pgstorage-manager"} {
		if operator[subject].Level != doctor.OK {
			t.Errorf("%s: %v %+v", subject, err, operator)
		}
	}
	// The schema that an API server has stored is the one that was given to it.
	crds, _ := findings(t, "CRDs")
	if len(crds) != 6 {
		t.Errorf("%+v", crds)
	}
	for name, f := range crds {
		if f.Level != doctor.OK {
			t.Errorf("%s: %+v", name, f)
		}
	}
	others, _ := findings(t, "Other operators")
	for subject, want := range map[string]doctor.Level{"CloudNativePG": doctor.OK, "zfs-localpv": doctor.OK, "Rook": doctor.Note} {
		if others[subject].Level != want {
			t.Errorf("%s: %+v", subject, others[subject])
		}
	}
	allowed, _ := findings(t, "Permissions")
	if f := allowed["create pgstorageclusters.pgstorage.dev in namespace default"]; f.Level != doctor.OK {
		t.Errorf("%+v", allowed)
	}
}

// installed creates the parts of the operator that doctor checks.
func installed(t *testing.T, c client.Client) {
	t.Helper()
	namespace(t, c, "plugin-doctor")
	labels := map[string]string{"app.kubernetes.io/name": "pgstorage", "app.kubernetes.io/component": "manager"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "plugin-doctor", Name: "pgstorage-manager", Labels: labels}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "manager", Image: "pgstorage:v0.1.0"}}
	create(t, c, d)
	d.Status = appsv1.DeploymentStatus{Replicas: 1, ReadyReplicas: 1, AvailableReplicas: 1}
	if err := c.Status().Update(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(rbac.ManagerRole, role); err != nil {
		t.Fatal(err)
	}
	create(t, c, role)
}

func TestDoctorListsWhatAUserCannotRead(t *testing.T) {
	var unread map[string]doctor.Finding
	eventually(t, "an answer for alice", func(context.Context) error {
		var err error
		unread, err = findings(t, "Not checked", "--as", "alice")
		return err
	})
	for _, subject := range []string{"Nodes", "PgStorageProfiles", "Deployments of all namespaces", "CustomResourceDefinition pgstorageclusters.pgstorage.dev"} {
		if unread[subject].Level != doctor.Unknown {
			t.Errorf("%s: %s", subject, fmt.Sprint(unread[subject]))
		}
	}
	allowed, _ := findings(t, "Permissions", "--as", "alice")
	if f := allowed["create pgstorageclusters.pgstorage.dev in namespace default"]; f.Level != doctor.Note {
		t.Errorf("%+v", allowed)
	}
}

func TestDoctorFailsWithoutAPIServer(t *testing.T) {
	if out, err := plugin(t, "doctor", "--server", "https://127.0.0.1:1"); err == nil || errors.Is(err, cli.ErrFindings) {
		t.Errorf("%v\n%s", err, out)
	}
}
