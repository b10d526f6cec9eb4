package sixthprofile

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	storagev1ac "k8s.io/client-go/applyconfigurations/storage/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// typeSixth is a value that spec.type does not have outside of this test.
const typeSixth v1alpha1.ProfileType = "Sixth"

// Reasons of the sixth kind.
const (
	reasonArrayMissing  = "ArrayMissing"
	reasonArrayDegraded = "ArrayDegraded"
	reasonArrayReady    = "ArrayReady"
	reasonArrayBusy     = "ArrayBusy"
)

// arrayKind is a foreign kind that only the sixth kind of storage knows. It is a disk array
// whose status has health and latency, and a counter that changes all the time.
var (
	arrayKind = schema.GroupVersionKind{Group: "sixth.example", Version: "v1", Kind: "DiskArray"}
	arrayCRD  = "diskarrays.sixth.example"
)

// array is what the kind reads of the DiskArray with the profile's name.
type array struct {
	health  string
	latency time.Duration
	busy    bool
}

// sixth is a kind of storage on a foreign disk array. It is all the code that a new kind needs.
type sixth struct{}

var _ profile.Type = sixth{}

func (sixth) Name() v1alpha1.ProfileType { return typeSixth }

func (sixth) Classes(p *v1alpha1.PgStorageProfile) []string {
	return []string{naming.DataClass(p.Name)}
}

func (sixth) Build(p *v1alpha1.PgStorageProfile, facts observed.Profile) (profile.Built, error) {
	var b profile.Built
	class, err := plan.FromApply(plan.StageStorage, storagev1ac.StorageClass(naming.DataClass(p.Name)).
		WithLabels(naming.ProfileLabels(p.Name, string(p.UID))).
		WithProvisioner("csi.sixth.example"))
	if err != nil {
		return b, err
	}
	b.Plan.Add(class)
	o := judge(facts)
	if o.Kind != outcome.Done {
		b.Plan.AddGate(plan.StageStorage, o.Reason, o.Message)
	}
	b.Outcomes = []outcome.Outcome{o}
	if a, found := facts.Own.(array); found {
		b.Status.FlushLatency = &metav1.Duration{Duration: a.latency}
	}
	return b, nil
}

func judge(facts observed.Profile) outcome.Outcome {
	const c = v1alpha1.ConditionStorageReady
	a, found := facts.Own.(array)
	switch {
	case !found:
		return outcome.WaitFor(c, reasonArrayMissing, "Waiting for the DiskArray with the profile's name")
	case a.health != "Good":
		return outcome.WaitFor(c, reasonArrayDegraded, fmt.Sprintf("the DiskArray reports health %q", a.health))
	}
	return outcome.DoneWith(c, reasonArrayReady, "the DiskArray reports health Good")
}

func (sixth) Volumes(p *v1alpha1.PgStorageProfile) profile.Volumes {
	return profile.Volumes{StorageClass: naming.DataClass(p.Name), WALStorageClass: naming.DataClass(p.Name), Medium: postgres.SAN}
}

func (sixth) Verify(*v1alpha1.PgStorageProfile, int, []observed.Claim) (*outcome.Outcome, postgres.Proof) {
	return nil, postgres.Proof{}
}

func (sixth) Hooks() profile.Hooks {
	return profile.Hooks{
		Alpha: "which exist in a test",
		Sources: []profile.Source{{
			Kind: arrayKind, CRDs: []string{arrayCRD},
			Trim: trimArray, Guards: true,
			Concerns: func(p *v1alpha1.PgStorageProfile, o profile.Object) bool {
				return o.GetName() == p.Name
			},
		}},
		Read: readArray,
		Teardown: func(_ *v1alpha1.PgStorageProfile, facts observed.Profile) profile.Teardown {
			if a, found := facts.Own.(array); found && a.busy {
				return profile.Teardown{Reason: reasonArrayBusy, Waits: "deletion waits for the DiskArray to become idle"}
			}
			return profile.Teardown{}
		},
	}
}

func readArray(p *v1alpha1.PgStorageProfile, objects profile.Objects, facts *observed.Profile) error {
	for _, o := range profile.List[*unstructured.Unstructured](objects, arrayKind) {
		if o.GetName() != p.Name {
			continue
		}
		health, _, err := unstructured.NestedString(o.Object, "status", "health")
		if err != nil {
			return err
		}
		text, _, err := unstructured.NestedString(o.Object, "status", "latency")
		if err != nil {
			return err
		}
		latency, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		facts.Own = array{health: health, latency: latency, busy: o.GetLabels()["busy"] == "true"}
	}
	return nil
}

// trimArray drops the counter.
func trimArray(object profile.Object) (profile.Object, error) {
	o, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	o.SetManagedFields(nil)
	unstructured.RemoveNestedField(o.Object, "status", "writes")
	return o, nil
}
