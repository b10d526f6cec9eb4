package cephrbd

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// A user does not have to act on a probe that failed because Ceph is not ready.
func TestFailedProbeWaitsForCeph(t *testing.T) {
	for health, want := range map[string]outcome.Kind{"HEALTH_OK": outcome.Invalid, "HEALTH_ERR": outcome.Wait} {
		p := onZFS(nil)
		facts := healthy(p, "n1", "n2", "n3")
		own(facts).Probes = map[string]Probe{probeName(p, facts): {Failed: "DeadlineExceeded"}}
		own(facts).Cluster.Status.Ceph.Health = health
		b := build(t, p, facts)
		got := outcomeOf(b, v1alpha1.ConditionPoolVerified)
		if got.Kind != want || got.Reason != v1alpha1.ReasonProbeFailed {
			t.Errorf("%s: %+v", health, got)
		}
	}
}

func TestNoStorageClassBeforeAProbeVerifiedThePools(t *testing.T) {
	failure := metav1.Condition{Type: v1alpha1.ConditionPoolVerified, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonProbeFailed, Message: "what it said"}
	for _, tc := range []struct {
		name    string
		probe   *Probe
		before  []metav1.Condition
		reason  string
		kind    outcome.Kind
		message string
	}{
		{"no Job yet", nil, nil, v1alpha1.ReasonProbePending, outcome.Wait, "a probe creates, writes, flushes, reads and removes an image in each pool once the pools are ready"},
		{"a Job that runs", &Probe{}, nil, v1alpha1.ReasonProbePending, outcome.Wait, "JOB has not ended"},
		{"a Job that cannot start", &Probe{Last: Attempt{Text: `CreateContainerConfigError: secret "s" not found`}}, nil, v1alpha1.ReasonProbePending, outcome.Wait, `JOB has not ended: CreateContainerConfigError: secret "s" not found`},
		{"an image cannot be created", &Probe{Failed: "BackoffLimitExceeded", Last: Attempt{Failed: true, Text: "pool ceph: rbd create failed: (95) Operation not supported"}}, nil, v1alpha1.ReasonProbeFailed, outcome.Invalid, "JOB: pool ceph: rbd create failed: (95) Operation not supported (BackoffLimitExceeded). No StorageClass is created before a probe succeeds. The next one runs once this Job is gone, 10 minutes after its end; delete it to try now"},
		{"a Job out of time", &Probe{Failed: "DeadlineExceeded"}, nil, v1alpha1.ReasonProbeFailed, outcome.Invalid, ""},
		{"the next Job after a failure", &Probe{}, []metav1.Condition{failure}, v1alpha1.ReasonProbeFailed, outcome.Invalid, "what it said"},
		{"a Job that succeeded", &Probe{Complete: true}, []metav1.Condition{failure}, v1alpha1.ReasonPoolVerified, outcome.Done, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := onZFS(nil)
			p.Status.Conditions = tc.before
			facts := healthy(p, "n1", "n2", "n3")
			name := probeName(p, facts)
			own(facts).Probes = map[string]Probe{}
			if tc.probe != nil {
				own(facts).Probes[name] = *tc.probe
			}
			b := build(t, p, facts)
			o := outcomeOf(b, v1alpha1.ConditionPoolVerified)
			if o.Reason != tc.reason || o.Kind != tc.kind {
				t.Errorf("%+v", o)
			}
			if want := strings.ReplaceAll(tc.message, "JOB", "job/"+name+" in namespace rook-ceph"); want != "" && o.Message != want {
				t.Errorf("%q\nwant %q", o.Message, want)
			}
			want := "nodes backing ceph ceph-pool pool probe"
			if tc.kind == outcome.Done {
				want = all
			}
			if got := open(b.Plan); got != want {
				t.Errorf("open are %q, want %q", got, want)
			}
			if (b.Status.Ceph.ProbedKey != "") != (tc.kind == outcome.Done) {
				t.Errorf("probed %q", b.Status.Ceph.ProbedKey)
			}
		})
	}
}

// A probe runs once for the pools of a CephCluster, and again for others of their names.
func TestAProbeRunsOnceForTheSamePools(t *testing.T) {
	p := onZFS(nil)
	facts := healthy(p, "n1", "n2", "n3")
	p.Status.Ceph = build(t, p, facts).Status.Ceph
	own(facts).Probes = nil
	b := build(t, p, facts)
	if o := outcomeOf(b, v1alpha1.ConditionPoolVerified); o.Reason != v1alpha1.ReasonPoolVerified || open(b.Plan) != all || b.Status.Ceph.ProbedKey != p.Status.Ceph.ProbedKey {
		t.Errorf("%+v, open %q", o, open(b.Plan))
	}
	for key := range keys(b.Plan) {
		if strings.HasPrefix(key, "Job ") {
			t.Errorf("%s is wanted", key)
		}
	}
	seen := own(facts).Pools["ceph"]
	seen.UID = "another"
	own(facts).Pools["ceph"] = seen
	if o := outcomeOf(build(t, p, facts), v1alpha1.ConditionPoolVerified); o.Reason != v1alpha1.ReasonProbePending {
		t.Errorf("another pool: %+v", o)
	}
	delete(own(facts).Pools, "ceph")
	if got := build(t, p, facts).Status.Ceph.ProbedKey; got != p.Status.Ceph.ProbedKey {
		t.Errorf("a pool that is not read takes the key: %q", got)
	}
}

// The operator runs nothing in a CephCluster of others, and does not vouch for its pools.
func TestAnExternalCephIsNotProbed(t *testing.T) {
	p := external(nil)
	b := build(t, p, healthy(p, "n1", "n2", "n3"))
	o := outcomeOf(b, v1alpha1.ConditionPoolVerified)
	if o.Reason != v1alpha1.ReasonNotVerified || !o.Unknown || !o.Informative || open(b.Plan) != all || b.Status.Ceph.ProbedKey != "" {
		t.Errorf("%+v, open %q", o, open(b.Plan))
	}
	for key := range keys(b.Plan) {
		if strings.HasPrefix(key, "Job ") {
			t.Errorf("%s is wanted", key)
		}
	}
}

func TestTheProbeIsConfinedAndEnds(t *testing.T) {
	raw, err := json.Marshal(probeJob(onZFS(erasureCoded), healthy(onZFS(erasureCoded), "n1", "n2", "n3", "n4")))
	if err != nil {
		t.Fatal(err)
	}
	var job batchv1.Job
	if err := json.Unmarshal(raw, &job); err != nil {
		t.Fatal(err)
	}
	pod := job.Spec.Template.Spec
	c := pod.Containers[0]
	s := c.SecurityContext
	if job.Namespace != "rook-ceph" || *job.Spec.BackoffLimit != 1 || *job.Spec.ActiveDeadlineSeconds == 0 || *job.Spec.TTLSecondsAfterFinished == 0 {
		t.Errorf("%+v", job.Spec)
	}
	if *pod.AutomountServiceAccountToken || pod.RestartPolicy != corev1.RestartPolicyNever || !*pod.SecurityContext.RunAsNonRoot || *pod.SecurityContext.RunAsUser == 0 ||
		pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || pod.HostNetwork || pod.HostPID {
		t.Errorf("%+v", pod)
	}
	if *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" || s.Privileged != nil {
		t.Errorf("%+v", s)
	}
	if len(c.Resources.Limits) != 2 || len(c.Resources.Requests) != 2 || c.Image != "quay.io/ceph/ceph:v20.2.4" {
		t.Errorf("%+v of %s", c.Resources, c.Image)
	}
	if strings.Contains(c.Command[2], "ceph-data") {
		t.Error("the script holds a value of the profile")
	}
	platform := healthy(onZFS(nil), "n1", "n2", "n3")
	platform.Operator.PlatformUsers = true
	if c := probeJob(onZFS(nil), platform).Spec.Template.Spec.SecurityContext; c.RunAsUser != nil || !*c.RunAsNonRoot {
		t.Errorf("%+v", c)
	}
}

// runProbe runs the script with a fake rbd that records its arguments, and fails where the
// shell code in fails says so. It returns the calls and the termination message.
func runProbe(t *testing.T, fails string, env ...string) (calls []string, message string, err error) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("rbd", "#!/bin/sh\necho \"$*\" >>"+dir+"/calls\n"+fails+"\n", 0o700)
	write("userID", "csi-rbd-provisioner", 0o600)
	script := strings.NewReplacer("/dev/termination-log", dir+"/message").Replace(probeScript)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	cmd.Env = append([]string{"PATH=" + dir + ":" + os.Getenv("PATH"), "MON_HOST=[v2:10.0.0.1:3300,v1:10.0.0.1:6789]", "FEATURES=layering,exclusive-lock", "CLIENT=" + dir, "IMAGE=pgstorage-probe"}, env...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	raw, _ := os.ReadFile(filepath.Join(dir, "calls"))
	text, _ := os.ReadFile(filepath.Join(dir, "message"))
	common := "-c /dev/null --mon-host [v2:10.0.0.1:3300,v1:10.0.0.1:6789] --id csi-rbd-provisioner --keyfile " + dir + "/userKey --rbd-cache=false "
	for line := range strings.Lines(string(raw)) {
		rest, found := strings.CutPrefix(strings.TrimSpace(line), common)
		if !found {
			t.Errorf("rbd is called with %q", line)
		}
		calls = append(calls, rest)
	}
	return calls, strings.TrimSpace(string(text)), err
}

func TestTheScriptProbesEachPool(t *testing.T) {
	calls, message, err := runProbe(t, "", "POOLS=a b", "DATA_POOL=")
	if err != nil || message != "" {
		t.Fatalf("%v: %q", err, message)
	}
	steps := func(pool string) string {
		return strings.ReplaceAll(`rm --no-progress POOL/pgstorage-probe
create --size 16M --image-format 2 --image-feature layering,exclusive-lock POOL/pgstorage-probe
bench --io-type write --io-size 4K --io-threads 1 --io-total 1M --io-pattern seq POOL/pgstorage-probe
bench --io-type read --io-size 4K --io-threads 1 --io-total 1M --io-pattern seq POOL/pgstorage-probe
rm --no-progress POOL/pgstorage-probe`, "POOL", pool)
	}
	if got, want := strings.Join(calls, "\n"), steps("a")+"\n"+steps("b"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestTheScriptPutsErasureCodedDataInItsPool(t *testing.T) {
	calls, _, err := runProbe(t, "", "POOLS=a", "DATA_POOL=a-data")
	if err != nil || !strings.HasPrefix(calls[1], "create --size 16M --image-format 2 --image-feature layering,exclusive-lock --data-pool a-data a/") {
		t.Errorf("%v: %q", err, calls)
	}
}

func TestTheScriptSaysWhatFailed(t *testing.T) {
	for _, tc := range []struct{ name, fails, message string }{
		{"create", `case "$*" in *create*) echo first >&2; echo "rbd: create error: (95) Operation not supported" >&2; exit 95 ;; esac`, "pool a: rbd create failed: rbd: create error: (95) Operation not supported"},
		{"no answer", `case "$*" in *"bench --io-type write"*) exit 124 ;; esac`, "pool a: rbd write failed: no answer within 60 s"},
		{"what is left of a try before is not there", `case "$*" in *"rm --no-progress"*) [ "$(wc -l <$(dirname "$0")/calls)" -gt 1 ] || exit 2 ;; esac`, ""},
		{"the image stays", `case "$*" in *"rm --no-progress"*) [ "$(wc -l <$(dirname "$0")/calls)" -eq 1 ] || { echo "rbd: error: image still has watchers"; exit 16; } ;; esac`, "pool a: rbd remove failed: rbd: error: image still has watchers"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, message, err := runProbe(t, tc.fails, "POOLS=a b", "DATA_POOL=")
			if message != tc.message || (err == nil) != (tc.message == "") {
				t.Errorf("%v: %q, want %q", err, message, tc.message)
			}
		})
	}
}

// A Job of another profile, or of a user, says nothing about the pools.
func TestOnlyTheProfilesOwnJobsCount(t *testing.T) {
	p := onZFS(nil)
	job := func(name, owner string, condition batchv1.JobConditionType) *batchv1.Job {
		return &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Namespace: "rook-ceph", Name: name, Labels: map[string]string{"pgstorage.dev/owner-uid": owner}},
			Status:     batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: condition, Status: corev1.ConditionTrue, Reason: "R"}}},
		}
	}
	elsewhere := job("d", uid, batchv1.JobComplete)
	elsewhere.Namespace = "prod"
	var objects profile.Objects
	objects.Add(jobs, job("a", uid, batchv1.JobComplete), job("b", uid, batchv1.JobFailed), job("c", "another", batchv1.JobComplete), elsewhere)
	f := &Facts{}
	f.readJobs("rook-ceph", string(p.UID), objects)
	if len(f.Probes) != 2 || !f.Probes["a"].Complete || f.Probes["b"].Failed != "R" {
		t.Errorf("%+v", f.Probes)
	}
}

// A Job that opens an image keeps Rook from deleting its pool.
func TestProbesEndBeforeTheirPool(t *testing.T) {
	p := onZFS(func(c *v1alpha1.CephRBDProfile) { c.DeletionPolicy = v1alpha1.DeletionDelete })
	facts := observed.Profile{Own: &Facts{Probes: map[string]Probe{"b": {}, "a": {}}}}
	if got := teardown(p, facts); got.Kind != "Job" || strings.Join(got.Names, " ") != "a b" {
		t.Errorf("%+v", got)
	}
}
