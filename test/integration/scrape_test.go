package integration

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr/testr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/node/metricsauth"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
)

// token of a new ServiceAccount, from the API server.
func token(t *testing.T, c client.Client, ns, name string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	create(t, c, account)
	request := &authenticationv1.TokenRequest{}
	if err := c.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// scraped starts a server of metrics whose filter asks by these reviews.
func scraped(t *testing.T, config *rest.Config) *httptest.Server {
	t.Helper()
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	filter, err := metricsauth.Filter(config, h)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := filter(testr.New(t), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("figures")) }))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func scrapeCode(t *testing.T, method, url, authorization string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func TestScrapeNeedsATokenWithTheRight(t *testing.T) {
	c := apiserver.Client(t, config)
	ns := namespace(t, c)
	reader, other := token(t, c, ns, "reader"), token(t, c, ns, "other")
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "scrape-" + ns},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
	create(t, c, role, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: "reader"}},
	})
	w := &writes{}
	url := scraped(t, w.into(config)).URL
	// The API server's authorizer learns of a new role a little later.
	eventually(t, "the role to count", func(context.Context) error {
		if code := scrapeCode(t, http.MethodGet, scraped(t, config).URL+"/metrics", "Bearer "+reader); code != http.StatusOK {
			return fmt.Errorf("status %d", code)
		}
		return nil
	})
	for name, row := range map[string]struct {
		method, path, authorization string
		want                        int
	}{
		"who may":              {http.MethodGet, "/metrics", "Bearer " + reader, http.StatusOK},
		"in lower case":        {http.MethodGet, "/metrics", "bearer " + reader, http.StatusOK},
		"another path":         {http.MethodGet, "/debug/pprof/", "Bearer " + reader, http.StatusForbidden},
		"another method":       {http.MethodPost, "/metrics", "Bearer " + reader, http.StatusForbidden},
		"who may not":          {http.MethodGet, "/metrics", "Bearer " + other, http.StatusForbidden},
		"nobody":               {http.MethodGet, "/metrics", "", http.StatusUnauthorized},
		"no token":             {http.MethodGet, "/metrics", "Bearer ", http.StatusUnauthorized},
		"another scheme":       {http.MethodGet, "/metrics", "Basic " + reader, http.StatusUnauthorized},
		"a token that is none": {http.MethodGet, "/metrics", "Bearer " + strings.ToUpper(reader), http.StatusUnauthorized},
		"a token cut short":    {http.MethodGet, "/metrics", "Bearer " + reader[:len(reader)-20], http.StatusUnauthorized},
	} {
		if got := scrapeCode(t, row.method, url+row.path, row.authorization); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
	asked := w.count.Load()
	for range 20 {
		_ = scrapeCode(t, http.MethodGet, url+"/metrics", "Bearer "+reader)
		_ = scrapeCode(t, http.MethodGet, url+"/metrics", "Bearer "+other)
	}
	if n := w.count.Load() - asked; n != 0 {
		t.Errorf("%d reviews for what was asked before", n)
	}
}

func TestScrapeFailsWhereTheReviewFails(t *testing.T) {
	w := &writes{failAfter: 1}
	w.count.Add(1)
	if got := scrapeCode(t, http.MethodGet, scraped(t, w.into(config)).URL+"/metrics", "Bearer x"); got != http.StatusInternalServerError {
		t.Errorf("%d", got)
	}
}
