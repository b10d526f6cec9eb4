package zerofs

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
)

// TerminationLog is where the kubelet reads why a container ended
// (terminationMessagePath).
const TerminationLog = "/dev/termination-log"

// maxMessage of a failure in bytes: the kubelet keeps 4096 of a container and 12 KiB
// of a pod.
const maxMessage = 1024

// Reasons why a store or its server cannot be used.
const (
	ReasonEndpointUnreachable       = "EndpointUnreachable"
	ReasonCredentialsRejected       = "CredentialsRejected"
	ReasonClockSkew                 = "ClockSkew"
	ReasonBucketNotFound            = "BucketNotFound"
	ReasonPrefixNotEmpty            = "PrefixNotEmpty"
	ReasonConditionalPutUnsupported = "ConditionalPutUnsupported"
	ReasonPasswordInvalid           = "PasswordInvalid"
	ReasonPasswordWrong             = "PasswordWrong"
	ReasonConfigRejected            = "ConfigRejected"
	ReasonStoreLost                 = "StoreLost"
	ReasonFenced                    = "Fenced"
	ReasonServerFailed              = "ServerFailed"
)

// Failure of a server or of what it needs, for an administrator.
type Failure struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func (f *Failure) Error() string { return f.Reason + ": " + f.Message }

// Report the failure into a file for the kubelet, as JSON.
func (f *Failure) Report(to string) error {
	raw, err := json.Marshal(Failure{Reason: f.Reason, Message: cut(f.Message)})
	if err != nil {
		return fmt.Errorf("report a failure: %w", err)
	}
	// The kubelet mounts this one file, so it cannot be replaced by another.
	if err := os.WriteFile(to, raw, 0o600); err != nil {
		return fmt.Errorf("report a failure: %w", err)
	}
	return nil
}

// ParseFailure of what the kubelet read; nil if it is of someone else.
func ParseFailure(text string) *Failure {
	var f Failure
	if json.Unmarshal([]byte(text), &f) != nil || f.Reason == "" {
		return nil
	}
	return &f
}

// cut a message to what is kept of it, without half a character at the end.
func cut(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage-len("…")], "") + "…"
}

// takenOver by another server.
const takenOver = "another ZeroFS opened this prefix and took it over; a prefix must have one server"

// storeLost for a while.
const storeLost = "the store failed for longer than ZeroFS retries"

// meanings of the last message of ZeroFS, the first that fits. All but those of newer
// clients, skew and conditional writes were seen from 0.19.1. These are from its
// sources, from SlateDB's, and from Amazon's list of error codes.
var meanings = []struct {
	says    []string
	reason  string
	message string
}{
	{[]string{"detected newer DB client"}, ReasonFenced, takenOver},
	{[]string{"Invalid password or corrupted key"}, ReasonPasswordWrong, "the password is not the one that the data below this prefix was encrypted with; restore it in the Secret"},
	{[]string{"Password validation failed"}, ReasonPasswordInvalid, "the password is not one that ZeroFS accepts"},
	{[]string{"Failed to load config"}, ReasonConfigRejected, "ZeroFS does not accept its configuration: is the image of the family that is declared?"},
	{[]string{"RequestTimeTooSkewed"}, ReasonClockSkew, "the clocks of node and store differ"},
	{[]string{"NoSuchBucket"}, ReasonBucketNotFound, "the bucket does not exist"},
	{credentialCodes, ReasonCredentialsRejected, "the store rejects the credentials"},
	{[]string{"does not support conditional writes"}, ReasonConditionalPutUnsupported, "the store does not support conditional writes, by which ZeroFS keeps a second writer out"},
	// 502 is the meter's answer where the store gave none.
	{[]string{"kind: Connect", "status: 502", "502 Bad Gateway"}, ReasonEndpointUnreachable, "the store cannot be reached"},
	{[]string{"RetryError"}, ReasonStoreLost, storeLost},
}

// credentialCodes of stores that reject the client: Amazon's, and versitygw's for an
// unknown key.
var credentialCodes = []string{"InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied", "ExpiredToken", "InvalidToken", "XAdminUserNotFound"}

// IsCredentialCode says whether a store's error code is about who asks.
func IsCredentialCode(code string) bool {
	return slices.Contains(credentialCodes, code)
}

// Explain what ZeroFS said when it ended. Secrets are not in the result.
func Explain(said string, hide Secrets) *Failure {
	said = Plain(hide.Hide(said))
	for _, m := range meanings {
		for _, s := range m.says {
			if strings.Contains(said, s) {
				return &Failure{Reason: m.reason, Message: m.message + " (ZeroFS: " + said + ")"}
			}
		}
	}
	if said == "" {
		said = "it said nothing"
	}
	return &Failure{Reason: ReasonServerFailed, Message: "ZeroFS: " + said}
}

// Plain text on one line: without colours and control characters, and with single
// spaces.
func Plain(s string) string {
	var b strings.Builder
	for rest := s; rest != ""; {
		before, after, found := strings.Cut(rest, "\x1b[")
		b.WriteString(before)
		if !found {
			break
		}
		// A sequence ends with a letter (ECMA-48, 5.4).
		end := strings.IndexFunc(after, unicode.IsLetter)
		rest = after[end+1:]
	}
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(b.String(), "?"))
	return strings.Join(strings.Fields(text), " ")
}
