package observe

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocks "k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// pods of an API server that answers from memory.
type pods map[string]*corev1.Pod

func (p pods) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	pod, found := p[key.Name]
	if !found {
		return apierrors.NewNotFound(corev1.Resource("pods"), key.Name)
	}
	pod.DeepCopyInto(into.(*corev1.Pod))
	return nil
}

func (pods) List(context.Context, client.ObjectList, ...client.ListOption) error {
	panic("nothing is listed")
}

// network leads every address to one server, and remembers which were dialed.
type network struct {
	mu     sync.Mutex
	server string
	dialed []string
}

func (n *network) dial(ctx context.Context, kind, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dialed = append(n.dialed, address)
	n.mu.Unlock()
	return (&net.Dialer{}).DialContext(ctx, kind, n.server)
}

func database() *cnpgv1.Cluster {
	c := &cnpgv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db", UID: "uid-of-db"}}
	c.Status.InstancesReportedState = map[cnpgv1.PodName]cnpgv1.InstanceReportedState{"db-1": {IP: "203.0.113.1"}}
	return c
}

func instance(change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "db-1", Labels: map[string]string{naming.LabelCNPGCluster: "db"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: cnpgv1.SchemeGroupVersion.String(), Kind: "Cluster", Name: "db", UID: "uid-of-db", Controller: new(true)}},
	}}
	pod.Status.PodIP, pod.Status.HostIP = "10.1.2.3", "10.0.0.9"
	if change != nil {
		change(pod)
	}
	return pod
}

// read what an instance answers.
func read(t *testing.T, pod *corev1.Pod, answer http.HandlerFunc) (observed.ReadBack, *network) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	n := &network{server: server.Listener.Addr().String()}
	r := &ReadBack{Pods: pods{pod.Name: pod}, Clock: testclock.NewFakePassiveClock(time.Unix(0, 0)), Dial: n.dial}
	return r.Of(t.Context(), database(), []string{"shared_buffers", "jit"}), n
}

const honest = "# HELP a b\n# TYPE a gauge\na 1\n# HELP cnpg_pg_settings_setting Setting value\n# TYPE cnpg_pg_settings_setting gauge\n" +
	"cnpg_pg_settings_setting{name=\"jit\"} 0\ncnpg_pg_settings_setting{name=\"shared_buffers\"} 16384\ncnpg_pg_settings_setting{name=\"work_mem\"} 4096\n# HELP z b\nz 1\n"

// foundations follow it, as CloudNativePG sorts them.
const foundations = "# TYPE cnpg_pgstorage_follower_streams gauge\ncnpg_pgstorage_follower_streams{application_name=\"\"} 0\ncnpg_pgstorage_follower_streams{application_name=\"far-1\"} 1\n" +
	"cnpg_pgstorage_override_rows{datname=\"\",name=\"\",rolname=\"\",value=\"\"} 1\ncnpg_pgstorage_override_rows{datname=\"\",name=\"synchronous_commit\",rolname=\"app\",value=\"off\"} 1\n" +
	"cnpg_pgstorage_setting_info{name=\"fsync\",value=\"off\"} 1\ncnpg_pgstorage_setting_info{name=\"synchronous_standby_names\",value=\"ANY 1 (\\\"db-2\\\",\\\"db-1\\\")\"} 1\ncnpg_pgstorage_setting_info{name=\"hostile\",value=\"x\"} 1\n"

// receivers follow them.
const receivers = "cnpg_pgstorage_receiver_behind_bytes 1.6777216e+07\ncnpg_pgstorage_receiver_delay_seconds 12.7\ncnpg_pgstorage_receiver_position_bytes 5.0331648e+07\ncnpg_pgstorage_receiver_streaming 1\ncnpg_pgstorage_receiver_timeline 3\n"

func TestLagOfAReceiverIsRead(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		want   observed.Receiver
		known  bool
	}{
		"streams":    {honest + receivers, observed.Receiver{Streaming: true, Behind: 16 << 20, Delay: 12, Timeline: 3, Position: 48 << 20}, true},
		"no queries": {honest, observed.Receiver{}, false},
		"no number":  {honest + "cnpg_pgstorage_receiver_behind_bytes NaN\ncnpg_pgstorage_receiver_streaming 0\n", observed.Receiver{}, true},
		"too large":  {honest + "cnpg_pgstorage_receiver_behind_bytes 1e300\n", observed.Receiver{Behind: 1 << 62}, true},
	} {
		seen, _ := read(t, instance(nil), says(tc.answer))
		if got, known := seen.Receivers["db-1"]; got != tc.want || known != tc.known {
			t.Errorf("%s: got %+v, %v; want %+v, %v", name, got, known, tc.want, tc.known)
		}
	}
}

// An instance that receives nothing stands still once its position was the same for a minute.
func TestReceiverThatStandsStillIsStuck(t *testing.T) {
	at := time.Unix(1000, 0)
	last, silent := remembered{}, observed.Receiver{Timeline: -1}
	for i, tc := range []struct {
		after    time.Duration
		receiver observed.Receiver
		stuck    bool
	}{
		{0, observed.Receiver{Position: 10}, false},
		{40 * time.Second, observed.Receiver{Position: 10}, false},
		{40 * time.Second, observed.Receiver{Position: 10}, true},
		{40 * time.Second, observed.Receiver{Position: 11}, false}, // it replays what it has
		{40 * time.Second, observed.Receiver{Position: 11}, false},
		{40 * time.Second, observed.Receiver{Position: 11, Streaming: true}, false},
		{40 * time.Second, observed.Receiver{Position: 11}, false}, // since now
		{2 * time.Minute, observed.Receiver{}, false},              // it says no position
		{40 * time.Second, observed.Receiver{Position: 12}, false},
		{40 * time.Second, silent, false},
		{40 * time.Second, observed.Receiver{Position: 12}, true}, // it did not move meanwhile
		{40 * time.Second, silent, false},
		{40 * time.Second, observed.Receiver{Position: 13}, false}, // it did
	} {
		at = at.Add(tc.after)
		next := remembered{at: at, seen: observed.ReadBack{Receivers: map[string]observed.Receiver{"db-1": tc.receiver}}}
		if tc.receiver == silent {
			next.seen = observed.ReadBack{Errors: map[string]string{"db-1": "no answer"}}
		}
		next.watch(last)
		if got := next.seen.Receivers["db-1"].Stuck; got != tc.stuck {
			t.Errorf("read %d: stuck %t, want %t", i, got, tc.stuck)
		}
		last = next
	}
}

// What a primary kept is remembered, and is of no use once another instance is the primary.
func TestKeptWALIsThatOfTheCurrentPrimary(t *testing.T) {
	cluster := database()
	r := &ReadBack{Clock: testclock.NewFakePassiveClock(time.Unix(1000, 0))}
	r.remember(types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}, remembered{seen: observed.ReadBack{Kept: observed.KeptWAL{By: "db-1", From: 32 << 20}}})
	cluster.Status.CurrentPrimary = "db-1"
	if got := r.Kept(t.Context(), cluster, false); got.From != 32<<20 {
		t.Errorf("kept %+v", got)
	}
	cluster.Status.CurrentPrimary = "db-2"
	if got := r.Kept(t.Context(), cluster, false); got.From != 0 {
		t.Errorf("kept by another instance: %+v", got)
	}
}

func TestKeptWALIsReadOfThePrimary(t *testing.T) {
	answer := honest + "cnpg_pgstorage_wal_kept_from_bytes 3.3554432e+07\n"
	for primary, want := range map[string]observed.KeptWAL{"db-1": {By: "db-1", From: 32 << 20}, "db-2": {}} {
		found, err := readAnswer(strings.NewReader(answer), nil)
		if err != nil {
			t.Fatal(err)
		}
		out := observed.ReadBack{Instances: map[string]map[string]float64{}, Receivers: map[string]observed.Receiver{}}
		found.add(&out, "db-1", primary)
		if out.Kept != want {
			t.Errorf("the primary is %s: kept %+v, want %+v", primary, out.Kept, want)
		}
	}
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

func TestOnlyWhatIsWantedIsKept(t *testing.T) {
	seen, n := read(t, instance(nil), says(honest))
	want := map[string]float64{"shared_buffers": 16384, "jit": 0}
	if !maps.Equal(seen.Instances["db-1"], want) || len(seen.Errors) != 0 {
		t.Errorf("%v %v, want %v", seen.Instances, seen.Errors, want)
	}
	if !slices.Equal(n.dialed, []string{"10.1.2.3:9187"}) {
		t.Errorf("dialed %v: the address is kubelet's, not that of the Cluster's status", n.dialed)
	}
}

// The probes are known also of an instance whose metrics do not answer.
func TestProbesAreOfTheContainerOfPostgres(t *testing.T) {
	pod := instance(func(p *corev1.Pod) {
		p.Spec.Containers = []corev1.Container{
			{Name: "sidecar", LivenessProbe: &corev1.Probe{TimeoutSeconds: 1, PeriodSeconds: 2, FailureThreshold: 3}},
			{Name: "postgres", StartupProbe: &corev1.Probe{TimeoutSeconds: 5, PeriodSeconds: 10, FailureThreshold: 360}, LivenessProbe: &corev1.Probe{TimeoutSeconds: 60, PeriodSeconds: 60, FailureThreshold: 20}},
		}
	})
	seen, _ := read(t, pod, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	want := observed.Probes{Startup: observed.Probe{Timeout: 5, Period: 10, Attempts: 360}, Liveness: observed.Probe{Timeout: 60, Period: 60, Attempts: 20}}
	if seen.Probes["db-1"] != want || len(seen.Errors) != 1 {
		t.Errorf("read %+v, errors %v", seen.Probes, seen.Errors)
	}
	pod = instance(func(p *corev1.Pod) { p.OwnerReferences = nil })
	if seen, _ := read(t, pod, says(honest)); len(seen.Probes) != 0 {
		t.Errorf("of a foreign pod: %+v", seen.Probes)
	}
}

func TestAddressesThatAreNotOfThePodNetwork(t *testing.T) {
	ip := func(address string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.PodIP = address }
	}
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   error
	}{
		"of another Cluster":            {func(p *corev1.Pod) { p.OwnerReferences[0].UID = "other" }, errForeignPod},
		"of nobody, with its label":     {func(p *corev1.Pod) { p.OwnerReferences = nil }, errForeignPod},
		"owned and not controlled":      {func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }, errForeignPod},
		"controlled, without its label": {func(p *corev1.Pod) { p.Labels = nil }, errForeignPod},
		"with its node's network":       {func(p *corev1.Pod) { p.Spec.HostNetwork = true }, errHostNetwork},
		"with its node's address":       {ip("10.0.0.9"), errHostNetwork},
		"without an address":            {ip(""), errNoAddress},
		"that is being deleted":         {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }, errNoAddress},
		"loopback":                      {ip("127.0.0.1"), errAddress},
		"loopback of IPv6":              {ip("::1"), errAddress},
		"loopback in IPv6":              {ip("::ffff:127.0.0.1"), errAddress},
		"metadata of a cloud":           {ip("169.254.169.254"), errAddress},
		"metadata in IPv6":              {ip("::ffff:169.254.169.254"), errAddress},
		"link-local":                    {ip("fe80::1"), errAddress},
		"of an interface":               {ip("fe80::1%eth0"), errAddress},
		"unspecified":                   {ip("0.0.0.0"), errAddress},
		"multicast":                     {ip("224.0.0.1"), errAddress},
		"broadcast":                     {ip("255.255.255.255"), errAddress},
		"a name":                        {ip("kubernetes.default"), errAddress},
	} {
		seen, n := read(t, instance(c.change), says(honest))
		if len(n.dialed) != 0 || seen.Errors["db-1"] != c.want.Error() {
			t.Errorf("%s: dialed %v, %v", name, n.dialed, seen.Errors)
		}
	}
	if _, n := read(t, instance(func(p *corev1.Pod) { p.Name = "db-2" }), says(honest)); len(n.dialed) != 0 {
		t.Errorf("dialed %v for a pod that is not there", n.dialed)
	}
	if seen, _ := read(t, instance(ip("fd00::7")), says(honest)); len(seen.Instances) != 1 {
		t.Errorf("an address of IPv6: %v", seen.Errors)
	}
}

// secret stands for all text that a tenant chooses.
const secret = "s3cr3t"

func TestHostileAnswers(t *testing.T) {
	pad := func(n int) string { return strings.Repeat("x", n) }
	before := strings.Repeat("pg_database_size_bytes{datname=\""+pad(100)+"\"} 1\n", 4096) // more than 512 KiB
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/"+secret, http.StatusFound)
		}, "port 9187 answered with HTTP status 302"},
		"a status of its own": {func(w http.ResponseWriter, _ *http.Request) {
			raw(w, "HTTP/1.1 503 "+secret+"\r\nContent-Length: 0\r\n\r\n")
		}, "port 9187 answered with HTTP status 503"},
		"no HTTP": {func(w http.ResponseWriter, _ *http.Request) { raw(w, secret+"\r\n\r\n") }, errNoAnswer.Error()},
		"a header without end": {func(w http.ResponseWriter, _ *http.Request) {
			raw(w, "HTTP/1.1 200 OK\r\nA: "+pad(1<<20)+"\r\n\r\n"+honest)
		}, errNoAnswer.Error()},
		"no number":            {says("cnpg_pg_settings_setting{name=\"jit\"} " + secret + "\n"), errMalformed.Error()},
		"no labels":            {says("cnpg_pg_settings_setting{" + secret + "\n"), errMalformed.Error()},
		"a label without end":  {says("cnpg_pg_settings_setting{name=\"" + secret + "\n"), errMalformed.Error()},
		"nothing after a name": {says("cnpg_pg_settings_setting \n"), errMalformed.Error()},
		"cut short": {func(w http.ResponseWriter, _ *http.Request) {
			raw(w, "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"+honest[:200])
		}, errAnswerCutShort.Error()},
		"a line without end":    {says("cnpg_pg_settings_setting{name=\"" + pad(1<<20)), errFamilyTooLong.Error()},
		"a family without end":  {endless("cnpg_pg_settings_setting{name=\"" + pad(60) + "\"} 1\n"), errFamilyTooLong.Error()},
		"an answer without end": {endless("a{b=\"" + pad(60) + "\"} 1\n"), errAnswerTooLong.Error()},
		"no line ever":          {endless(pad(1 << 10)), errAnswerTooLong.Error()},
		"comments without end":  {endless("# HELP cnpg_pg_settings_setting " + secret + "\n"), errAnswerTooLong.Error()},
		"compressed, not asked": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("\x1f\x8b\x08" + secret))
		}, ""},
		"much before the family": {says(before + honest), ""},
		"long lines of others":   {says("q{text=\"" + pad(1<<20) + "\"} 1\n" + honest), ""},
		"nothing after the last": {func(w http.ResponseWriter, r *http.Request) {
			says(honest+foundations+receivers+archive+"cnpg_pgstorage_wal_kept_from_bytes 0\n")(w, r)
			endless("z 1\n")(w, r)
		}, ""},
		"other samples of no end":   {says(honest + "cnpg_pgstorage_setting_info{name=\"" + pad(1<<20)), errFamilyTooLong.Error()},
		"an endless other family":   {endless("cnpg_pgstorage_override_rows{datname=\"" + pad(60) + "\"} 1\n"), errFamilyTooLong.Error()},
		"other samples of no label": {says("cnpg_pgstorage_follower_streams{" + secret + "\n"), errMalformed.Error()},
	} {
		seen, _ := read(t, instance(nil), c.answer)
		if got := seen.Errors["db-1"]; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if strings.Contains(fmt.Sprint(seen), secret) {
			t.Errorf("%s: its text is in %v", name, seen)
		}
		if buffers, found := seen.Instances["db-1"]["shared_buffers"]; c.want == "" && name != "compressed, not asked" && (!found || buffers != 16384) {
			t.Errorf("%s: %v", name, seen)
		}
	}
}

// archive is what CloudNativePG reports of a WAL archive.
const archive = `cnpg_collector_pg_wal_archive_status{value="done"} 7
cnpg_collector_pg_wal_archive_status{value="ready"} 2
cnpg_pg_stat_archiver_last_archived_time 1.772445600123e+09
cnpg_pg_stat_archiver_last_archived_wal_start_lsn 4.294967339e+09
`

func TestArchive(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   observed.Archive
	}{
		"archived":       {archive, observed.Archive{Read: true, Last: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), WAL: "000000010000002B", Waiting: 2}},
		"never archived": {"cnpg_pg_stat_archiver_last_archived_time -1\ncnpg_pg_stat_archiver_last_archived_wal_start_lsn -1\n", observed.Archive{Read: true}},
		"no number":      {"cnpg_pg_stat_archiver_last_archived_time NaN\n", observed.Archive{}},
		"no time":        {"cnpg_pg_stat_archiver_last_archived_time 1e300\n", observed.Archive{Read: true}},
		"not reported":   {"", observed.Archive{}},
	} {
		c.answer = honest + c.answer
		out := &observed.ReadBack{Instances: map[string]map[string]float64{}}
		s, err := readAnswer(strings.NewReader(c.answer), nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.add(out, "db-2", "db-1"); out.Archive != (observed.Archive{}) {
			t.Errorf("%s: a standby reports %+v", name, out.Archive)
		}
		if s.add(out, "db-1", "db-1"); out.Archive != c.want {
			t.Errorf("%s: %+v, want %+v", name, out.Archive, c.want)
		}
	}
}

// An answer that is remembered keeps the time when it was read.
func TestArchiveHasTheTimeOfItsAnswer(t *testing.T) {
	server := httptest.NewServer(says(honest + archive))
	t.Cleanup(server.Close)
	n := &network{server: server.Listener.Addr().String()}
	start := time.Unix(1000, 0)
	clock := testclock.NewFakePassiveClock(start)
	c := database()
	c.Status.CurrentPrimary = "db-1"
	r := &ReadBack{Pods: pods{"db-1": instance(nil)}, Clock: clock, Dial: n.dial}
	for _, step := range []struct{ now, want time.Time }{
		{start, start},
		{start.Add(3 * time.Minute), start},
		{start.Add(ReadBackEvery), start.Add(ReadBackEvery)},
	} {
		clock.SetTime(step.now)
		if got := r.Of(t.Context(), c, nil).Archive; !got.Read || !got.At.Equal(step.want) {
			t.Errorf("at %s: %+v, want it of %s", step.now, got, step.want)
		}
		r.Settle(types.NamespacedName{Namespace: c.Namespace, Name: c.Name})
	}
}

// raw takes the connection over.
func raw(w http.ResponseWriter, text string) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = connection.Write([]byte(text))
	_ = connection.Close()
}

// endless answers until its reader stops.
func endless(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write([]byte(text)); err != nil {
				return
			}
		}
	}
}

// TestSlowInstances: two Clusters at a time may take as long as Prometheus lets them, and
// the next ones have their place once they end.
func TestSlowInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &ReadBack{Pods: pods{"db-1": instance(nil)}, Clock: clocks.RealClock{}, Dial: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			t.Cleanup(func() { _ = theirs.Close() })
			go func() { _, _ = io.Copy(io.Discard, theirs) }() // reads, and never answers
			return ours, nil
		}}
		for range 2 {
			took := make(chan time.Duration, 4)
			start := time.Now()
			for range cap(took) {
				go func() {
					r.scrape(t.Context(), database(), nil)
					took <- time.Since(start)
				}()
			}
			var all []time.Duration
			for range cap(took) {
				all = append(all, <-took)
			}
			slices.Sort(all)
			if want := []time.Duration{scrapeTimeout, scrapeTimeout, slowTimeout, slowTimeout}; !slices.Equal(all, want) {
				t.Errorf("took %v, want %v", all, want)
			}
			synctest.Wait()
		}
	})
}

// TestSilentInstances: all instances together delay a pass by the time of one, and are
// asked ever less often.
func TestSilentInstances(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() }) // accepts into its backlog and never answers
	c, all := database(), pods{}
	c.Status.InstancesReportedState = map[cnpgv1.PodName]cnpgv1.InstanceReportedState{}
	for i := range 40 {
		name := fmt.Sprintf("db-%02d", i)
		c.Status.InstancesReportedState[cnpgv1.PodName(name)] = cnpgv1.InstanceReportedState{}
		all[name] = instance(func(p *corev1.Pod) { p.Name = name })
	}
	clock := testclock.NewFakePassiveClock(time.Unix(0, 0))
	n := &network{server: listener.Addr().String()}
	r := &ReadBack{Pods: all, Clock: clock, Dial: n.dial}
	start := time.Now()
	seen := r.Of(t.Context(), c, nil)
	if took := time.Since(start); took > 2*slowTimeout {
		t.Errorf("took %s, want about %s", took, slowTimeout)
	}
	if len(n.dialed) != maxInstances || len(seen.Errors) != maxInstances || seen.Errors["db-00"] != errNoAnswer.Error() {
		t.Errorf("%d dialed, %v", len(n.dialed), seen.Errors)
	}
	_ = listener.Close() // refuses at once
	name := types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
	var waits []time.Duration
	for range 13 {
		waits = append(waits, r.Next(name))
		clock.SetTime(clock.Now().Add(r.Next(name)))
		r.Of(t.Context(), c, nil)
	}
	want := []time.Duration{10, 10, 10, 20, 10, 40, 10, 80, 10, 160, 10, 300, 10}
	for i := range want {
		if waits[i] != want[i]*time.Second {
			t.Fatalf("waits %v, want %v s", waits, want)
		}
	}
	r.Settle(name)
	if r.Next(name) != ReadBackEvery {
		t.Errorf("settled: %s", r.Next(name))
	}
	c.Status.CurrentPrimary = "db-07"
	asked := len(n.dialed)
	if r.Of(t.Context(), c, nil); len(n.dialed) == asked || r.Next(name) != askAgain {
		t.Errorf("another primary: %d dialed, next in %s", len(n.dialed)-asked, r.Next(name))
	}
}

// TestSlowAnswerIsReadTheSecondTime: CloudNativePG computes an answer for a reader that left, and
// keeps it. What was as wanted before is believed until then, and not for longer.
func TestSlowAnswerIsReadTheSecondTime(t *testing.T) {
	clock := testclock.NewFakePassiveClock(time.Unix(1000, 0))
	var slow, silent bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if slow || silent {
			slow = false
			<-request.Context().Done()
			return
		}
		says(honest)(w, request)
	}))
	t.Cleanup(server.Close)
	n := &network{server: server.Listener.Addr().String()}
	c := database()
	name := types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
	r := &ReadBack{Pods: pods{"db-1": instance(nil)}, Clock: clock, Dial: n.dial}
	for i, step := range []struct {
		slow, silent bool
		read         int // instances that were
		next         time.Duration
	}{
		{slow: true, read: 0, next: askAgain},
		{read: 1, next: ReadBackEvery}, // and settled
		{slow: true, read: 1, next: askAgain},
		{read: 1, next: ReadBackEvery},
		{silent: true, read: 1, next: askAgain},
		{silent: true, read: 0, next: retryReadBack},
		{silent: true, read: 0, next: askAgain},
		{read: 1, next: ReadBackEvery},
	} {
		slow, silent = step.slow, step.silent
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		seen := r.Of(ctx, c, []string{"jit"})
		cancel()
		if step.next == ReadBackEvery {
			r.Settle(name)
		}
		if len(seen.Instances) != step.read || r.Next(name) != step.next {
			t.Errorf("step %d: %d instances and %v, next in %s; want %d and %s", i, len(seen.Instances), seen.Errors, r.Next(name), step.read, step.next)
		}
		clock.SetTime(clock.Now().Add(r.Next(name)))
	}
}

// TestMemoryOfAnAnswer: 8 MiB of answer, all of it samples of many families, cost no
// more than a few buffers.
func TestMemoryOfAnAnswer(t *testing.T) {
	var exposition strings.Builder
	for i := range 60000 {
		_, _ = fmt.Fprintf(&exposition, "m{database=\"%x\"} 1\n", sha256.Sum256(fmt.Append(nil, i)))
	}
	exposition.WriteString(honest)
	reader := strings.NewReader(exposition.String())
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if got, err := readAnswer(reader, map[string]bool{"jit": true}); err != nil || len(got.values) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 64<<10 {
		t.Errorf("%d bytes allocated for an answer of %d", allocated, exposition.Len())
	}
}
