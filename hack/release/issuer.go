package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// issuer of the stand-in's certificates. Its key stays in memory.
type issuer struct {
	pem         []byte
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	address     string
}

// lifetime of certificates is longer than any test.
const lifetime = 24 * time.Hour

// newIssuer for a stand-in that also answers by its address.
func newIssuer(address string) (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	template := template("pgstorage stand-in")
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	return &issuer{
		pem:         pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		certificate: certificate, key: key, address: address,
	}, nil
}

func template(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62)) // crypto/rand never fails
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lifetime),
	}
}

func (i *issuer) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: i.issue}
}

// issue a certificate for the name that the client asks for, else for the address.
func (i *issuer) issue(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	leaf := template(hello.ServerName)
	leaf.KeyUsage, leaf.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leaf.DNSNames, leaf.IPAddresses = []string{hello.ServerName}, nil
	if hello.ServerName == "" {
		leaf.DNSNames, leaf.IPAddresses = nil, []net.IP{net.ParseIP(i.address)}
	}
	raw, err := x509.CreateCertificate(rand.Reader, leaf, i.certificate, &i.key.PublicKey, i.key)
	if err != nil {
		return nil, fmt.Errorf("issue for %q: %w", hello.ServerName, err)
	}
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: i.key}, nil
}
