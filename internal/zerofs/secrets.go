package zerofs

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// Secrets that must not be seen, in the forms that they may be written in.
type Secrets []string

// SecretsOf the environment of a server, given as by os.Environ.
func SecretsOf(environment []string) Secrets {
	var all Secrets
	for _, v := range environment {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case EnvAccessKeyID, EnvSecretAccessKey, EnvPassword, "AWS_SESSION_TOKEN":
			if value != "" {
				all = append(all, value, url.QueryEscape(value), url.PathEscape(value))
			}
		}
	}
	// The longest first: one may be part of another.
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return slices.Compact(all)
}

// Hide the secrets in a text.
func (s Secrets) Hide(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}
