package sites

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// object of a site with three members, in generation 3. It has no status.
func object(self, primary string) *v1alpha1.PgStorageCluster {
	t := &v1alpha1.TopologySpec{Self: self, Primary: primary}
	for _, name := range []string{"north", "south", "west"} {
		t.Members = append(t.Members, v1alpha1.SiteMember{
			Name: name, Host: "shop." + name + ".example", Port: new(int32(5432)),
			TLS: v1alpha1.SiteTLS{ClientCertificate: name + "-replication", CertificateAuthority: name + "-ca"},
		})
	}
	o := &v1alpha1.PgStorageCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "prod", Name: "shop", Generation: 3, ResourceVersion: "10"}}
	o.Spec.Topology = t
	o.Status.Database = &v1alpha1.DatabaseStatus{UID: "uid-of-" + self}
	return o
}

// report is what the operator reports of the current generation.
func report(o *v1alpha1.PgStorageCluster, role v1alpha1.SiteRole, status metav1.ConditionStatus, reason string) {
	if o.Status.Topology == nil {
		o.Status.Topology = &v1alpha1.TopologyStatus{}
	}
	o.Status.Topology.Role = role
	condition(o, v1alpha1.ConditionSiteInRole, status, reason, "as "+string(role))
}

func condition(o *v1alpha1.PgStorageCluster, name string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&o.Status.Conditions, metav1.Condition{
		Type: name, Status: status, Reason: reason, Message: message, ObservedGeneration: o.Generation, LastTransitionTime: metav1.NewTime(noon),
	})
}

// writer is a site that writes, and follower one that follows it.
func writer(self string) *v1alpha1.PgStorageCluster {
	o := object(self, self)
	report(o, v1alpha1.SiteWrites, metav1.ConditionTrue, v1alpha1.ReasonWriting)
	return o
}

func follower(self, primary string) *v1alpha1.PgStorageCluster {
	o := object(self, primary)
	report(o, v1alpha1.SiteFollows, metav1.ConditionTrue, v1alpha1.ReasonFollowing)
	condition(o, v1alpha1.ConditionReady, metav1.ConditionTrue, "Ready", "")
	condition(o, v1alpha1.ConditionFollowersCaughtUp, metav1.ConditionTrue, v1alpha1.ReasonCaughtUp, "")
	return o
}

// demoted is north after it has stopped writing for south.
func demoted() *v1alpha1.PgStorageCluster {
	o := object("north", "south")
	report(o, v1alpha1.SiteDemoted, metav1.ConditionFalse, v1alpha1.ReasonDemoted)
	o.Status.Topology.DemotionToken = "token-1"
	return o
}

// promoting is south after it got a token, before the operator has seen that.
func promoting(token string) *v1alpha1.PgStorageCluster {
	o := follower("south", "north")
	o.Generation++
	o.Spec.Topology.Primary, o.Spec.Topology.PromotionToken = "south", token
	return o
}

// fakeAccess is a fake API server for one object.
type fakeAccess struct {
	object  *v1alpha1.PgStorageCluster
	patches []string
	// getErrors and patchErrors fail the next requests.
	getErrors, patchErrors []error
}

func next(errs *[]error) error {
	if len(*errs) == 0 {
		return nil
	}
	err := (*errs)[0]
	*errs = (*errs)[1:]
	return err
}

func (f *fakeAccess) Get(context.Context) (*v1alpha1.PgStorageCluster, error) {
	return f.object.DeepCopy(), next(&f.getErrors)
}

var kind = schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: "pgstorageclusters"}

func (f *fakeAccess) Patch(_ context.Context, patch []byte) error {
	if err := next(&f.patchErrors); err != nil {
		return err
	}
	var in struct {
		Metadata struct {
			ResourceVersion string            `json:"resourceVersion"`
			Annotations     map[string]string `json:"annotations"`
		} `json:"metadata"`
		Spec struct {
			Topology map[string]*string `json:"topology"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(patch, &in); err != nil {
		return err
	}
	if in.Metadata.ResourceVersion != f.object.ResourceVersion {
		return apierrors.NewConflict(kind, f.object.Name, nil)
	}
	f.patches = append(f.patches, string(patch))
	t := f.object.Spec.Topology
	for key, to := range map[string]*string{"primary": &t.Primary, "promotionToken": &t.PromotionToken} {
		if value, ok := in.Spec.Topology[key]; ok {
			*to = ""
			if value != nil {
				*to = *value
			}
		}
	}
	for key, value := range in.Metadata.Annotations {
		metav1.SetMetaDataAnnotation(&f.object.ObjectMeta, key, value)
	}
	f.object.Generation++
	f.changed()
	return nil
}

// changed gives the object another version.
func (f *fakeAccess) changed() {
	n, _ := strconv.Atoi(f.object.ResourceVersion)
	f.object.ResourceVersion = strconv.Itoa(n + 1)
}

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// world is the sites of a run. Each pause takes a second, and then the fake operator acts.
type world struct {
	north, south, west *fakeAccess
	out                bytes.Buffer
	now                time.Time
	// operate is the fake operator; nil does nothing.
	operate func(w *world)
	stop    context.CancelFunc
}

func newWorld(north, south, west *v1alpha1.PgStorageCluster) *world {
	return &world{north: &fakeAccess{object: north}, south: &fakeAccess{object: south}, west: &fakeAccess{object: west}, now: noon}
}

func (w *world) runner() Runner {
	return Runner{Timeout: time.Minute, Out: &w.out, Now: func() time.Time { return w.now }, Pause: func(ctx context.Context) error {
		w.now = w.now.Add(time.Second)
		if w.operate != nil {
			w.operate(w)
		}
		return ctx.Err()
	}}
}

func (w *world) target(kubeContext string, access *fakeAccess) Target {
	return Target{Place: Place{Context: kubeContext, Namespace: "prod", Name: "shop"}, Access: access}
}

func (w *world) switching(also ...Target) *Switching {
	return &Switching{Runner: w.runner(), From: w.target("north", w.north), To: w.target("south", w.south), Also: also}
}

// act does what the operators of both sites do in one pass, one change each.
func act(w *world) {
	north, south := w.north.object, w.south.object
	switch {
	case north.Spec.Topology.Primary == "south" && role(north) == v1alpha1.SiteWrites:
		report(north, v1alpha1.SiteDemoting, metav1.ConditionFalse, v1alpha1.ReasonDemoting)
	case north.Spec.Topology.Primary == "south" && role(north) == v1alpha1.SiteDemoting:
		report(north, v1alpha1.SiteDemoted, metav1.ConditionFalse, v1alpha1.ReasonDemoted)
		north.Status.Topology.DemotionToken = "token-1"
	case role(north) == v1alpha1.SiteDemoted && role(south) == v1alpha1.SiteWrites:
		report(north, v1alpha1.SiteFollows, metav1.ConditionTrue, v1alpha1.ReasonFollowing)
	}
	promoted := south.Spec.Topology.Primary == "south" && (south.Spec.Topology.PromotionToken != "" || south.Annotations[naming.AnnotationPromote] != "")
	switch {
	case role(south) == v1alpha1.SitePromoting:
		report(south, v1alpha1.SiteWrites, metav1.ConditionTrue, v1alpha1.ReasonWriting)
	case promoted && role(south) == v1alpha1.SiteFollows:
		report(south, v1alpha1.SitePromoting, metav1.ConditionFalse, v1alpha1.ReasonPromoting)
		delete(south.Annotations, naming.AnnotationPromote)
	}
	w.north.changed()
	w.south.changed()
}

func role(o *v1alpha1.PgStorageCluster) v1alpha1.SiteRole { return o.Status.Topology.Role }

// at returns a site as it was read.
func at(kubeContext string, o *v1alpha1.PgStorageCluster) Site {
	return Site{Place: Place{Context: kubeContext, Namespace: "prod", Name: "shop"}, Object: o}
}

// lines of an output without their times.
func (w *world) lines(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	for line := range bytes.Lines(w.out.Bytes()) {
		if _, err := time.Parse(time.RFC3339, string(line[:min(len(line), 20)])); err == nil {
			line = line[22:]
		}
		out.Write(line)
	}
	return out.String()
}
