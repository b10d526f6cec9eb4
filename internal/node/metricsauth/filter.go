// Package metricsauth serves metrics to clients that the API server authenticates and
// authorises. It asks the same as controller-runtime's filter, without the server library of
// that filter. An agent is on every storage node, and the library is a third of its memory
// (docs/adr/0017-own-metrics-filter.md).
package metricsauth

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/cache"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// remembered answers at most; the oldest goes first.
	remembered = 100
	// allowedFor and refusedFor are how long an answer holds.
	allowedFor = time.Minute
	refusedFor = 10 * time.Second
	// patience with the API server.
	patience = 10 * time.Second
)

// Filter is a metricsserver.Options.FilterProvider. A request needs a bearer token that a
// TokenReview authenticates (else 401). A SubjectAccessReview must allow its path and method
// (else 403). Without an answer of the API server, the filter returns 500.
func Filter(config *rest.Config, http *http.Client) (metricsserver.Filter, error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(authenticationv1.AddToScheme(scheme))
	utilruntime.Must(authorizationv1.AddToScheme(scheme))
	c, err := client.New(config, client.Options{Scheme: scheme, HTTPClient: http})
	if err != nil {
		return nil, fmt.Errorf("client for token reviews: %w", err)
	}
	f := &filter{reviews: c, answers: cache.NewLRUExpireCache(remembered)}
	return f.before, nil
}

type filter struct {
	reviews client.Writer
	answers *cache.LRUExpireCache
}

func (f *filter) before(log logr.Logger, next http.Handler) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code, err := f.judge(r)
		if err != nil {
			log.Error(err, "metrics were refused: the API server did not say whether they may be read")
		}
		if code != http.StatusOK {
			http.Error(w, http.StatusText(code), code)
			return
		}
		next.ServeHTTP(w, r)
	}), nil
}

// judge a request by an HTTP status: 200 lets it through.
func (f *filter) judge(r *http.Request) (int, error) {
	token, ok := bearer(r)
	if !ok {
		return http.StatusUnauthorized, nil
	}
	question := authorizationv1.NonResourceAttributes{Path: r.URL.Path, Verb: strings.ToLower(r.Method)}
	// A hash, so that no token is kept.
	key := sha256.Sum256([]byte(question.Verb + "\x00" + question.Path + "\x00" + token))
	if code, ok := f.answers.Get(key); ok {
		return code.(int), nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	code, err := f.ask(ctx, token, question)
	switch {
	case err != nil:
		return http.StatusInternalServerError, err
	case code == http.StatusOK:
		f.answers.Add(key, code, allowedFor)
	default:
		f.answers.Add(key, code, refusedFor)
	}
	return code, nil
}

func (f *filter) ask(ctx context.Context, token string, question authorizationv1.NonResourceAttributes) (int, error) {
	who := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	if err := f.reviews.Create(ctx, who); err != nil {
		return 0, fmt.Errorf("review a token: %w", err)
	}
	if !who.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user := who.Status.User
	may := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra(user.Extra), NonResourceAttributes: &question,
	}}
	if err := f.reviews.Create(ctx, may); err != nil {
		return 0, fmt.Errorf("review the access of %s: %w", user.Username, err)
	}
	if !may.Status.Allowed || may.Status.Denied {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

func bearer(r *http.Request) (string, bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

func extra(from map[string]authenticationv1.ExtraValue) map[string]authorizationv1.ExtraValue {
	out := make(map[string]authorizationv1.ExtraValue, len(from))
	for k, v := range from {
		out[k] = authorizationv1.ExtraValue(v)
	}
	return out
}
