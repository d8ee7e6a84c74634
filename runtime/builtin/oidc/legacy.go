package oidc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"apigen.dev/runtime/internal/access/meter"
	"github.com/spf13/pflag"
)

// legacy are kube-apiserver's flags for one issuer.
type legacy struct {
	url, client, ca               string
	usernameClaim, usernamePrefix string
	groupsClaim, groupsPrefix     string
	algorithms                    []string
	required                      map[string]string
}

const legacyPrefix = "oidc-"

func (l *legacy) add(flags *pflag.FlagSet) {
	flags.StringVar(&l.url, "oidc-issuer-url", "", "https URL of the one issuer of tokens that flags describe")
	flags.StringVar(&l.client, "oidc-client-id", "", "audience of the issuer's tokens for this server")
	flags.StringVar(&l.ca, "oidc-ca-file", "", "certificate authorities of the issuer (PEM), in place of the system's")
	flags.StringVar(&l.usernameClaim, "oidc-username-claim", "sub", "claim that is the user's name")
	flags.StringVar(&l.usernamePrefix, "oidc-username-prefix", "",
		"prefix of user names; - is none; by default the issuer's URL and #, but for the claim email")
	flags.StringVar(&l.groupsClaim, "oidc-groups-claim", "", "claim with the user's groups")
	flags.StringVar(&l.groupsPrefix, "oidc-groups-prefix", "", "prefix of groups")
	flags.StringSliceVar(&l.algorithms, "oidc-signing-algs", []string{"RS256"}, "algorithms that may sign the tokens")
	flags.StringToStringVar(&l.required, "oidc-required-claim", nil,
		"claim=value that a token must have; may be repeated")
}

// changed returns the name of a flag that was given, "" for none.
func (l *legacy) changed(set *pflag.FlagSet) string {
	var name string
	set.Visit(func(flag *pflag.Flag) {
		if strings.HasPrefix(flag.Name, legacyPrefix) {
			name = flag.Name
		}
	})
	return name
}

// issuers returns the issuer that the flags describe, or none. own returns the issuers of the server's own tokens.
func (l *legacy) issuers(set *pflag.FlagSet, own func() []string, metrics *meter.Issuers) (issuers, error) {
	if l.changed(set) == "" {
		return nil, nil
	}
	if l.url == "" || l.client == "" {
		return nil, errors.New("--oidc-issuer-url and --oidc-client-id must be given together with the other " +
			"--oidc- flags")
	}
	for _, algorithm := range l.algorithms {
		if !slices.Contains(allAlgorithms, algorithm) {
			return nil, fmt.Errorf("--oidc-signing-algs: %q is not one of %s", algorithm, strings.Join(allAlgorithms,
				", "))
		}
	}
	c, err := l.configuration()
	if err != nil {
		return nil, err
	}
	all, faults := validate(c, own())
	if err := faults.ToAggregate(); err != nil {
		return nil, fmt.Errorf("the --oidc- flags: %w", err)
	}
	return newIssuers(all, l.algorithms, metrics), nil
}

// configuration returns what the flags mean as a configuration.
func (l *legacy) configuration() (*Configuration, error) {
	jwt := JWT{Issuer: Issuer{URL: l.url, Audiences: []string{l.client}}}
	namePrefix := l.usernamePrefix
	switch {
	case namePrefix == "-":
		namePrefix = ""
	case namePrefix == "" && l.usernameClaim != "email":
		namePrefix = l.url + "#"
	}
	jwt.ClaimMappings.Username = PrefixedClaim{Claim: l.usernameClaim, Prefix: &namePrefix}
	if l.groupsClaim != "" {
		jwt.ClaimMappings.Groups = PrefixedClaim{Claim: l.groupsClaim, Prefix: &l.groupsPrefix}
	}
	if l.ca != "" {
		content, err := os.ReadFile(l.ca)
		if err != nil {
			return nil, fmt.Errorf("--oidc-ca-file: %w", err)
		}
		jwt.Issuer.CertificateAuthority = string(content)
	}
	for claim, value := range l.required {
		jwt.ClaimValidationRules = append(jwt.ClaimValidationRules, ClaimRule{Claim: claim, RequiredValue: value})
	}
	return &Configuration{JWT: []JWT{jwt}}, nil
}
