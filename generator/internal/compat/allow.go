package compat

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// AllowFile is the name of the allow file that apigen compat reads from the module's root where no flag names one.
const AllowFile = "apigen-compat.yaml"

// Allowed is an entry of an allow file: findings that a person has accepted.
type Allowed struct {
	Rule string `yaml:"rule"`
	// Subject is a finding's, in which * stands for any text without a slash: shop.example.com/v1/*:spec.color.
	Subject string `yaml:"subject"`
	Reason  string `yaml:"reason"`
	// Line is where the entry begins.
	Line int `yaml:"-"`
}

// Allowances are the entries of an allow file.
type Allowances struct {
	// File is its name, for messages.
	File    string
	Entries []Allowed
}

// ParseAllow reads an allow file:
//
//	allow:
//	- rule: FIELD_REMOVED
//	  subject: shop.example.com/v1/Widget:spec.color
//	  reason: never shipped
//
// Unknown keys and rules, and entries without a reason, are errors with their lines.
func ParseAllow(file string, data []byte) (*Allowances, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	a := &Allowances{File: file}
	if len(doc.Content) == 0 {
		return a, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode || len(root.Content) != 2 || root.Content[0].Value != "allow" ||
		root.Content[1].Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("%s:%d: expected the key allow with a list of entries, and nothing else", file,
			root.Line)
	}
	var errs []error
	for _, n := range root.Content[1].Content {
		entry, err := parseEntry(n)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", file, n.Line, err))
			continue
		}
		a.Entries = append(a.Entries, entry)
	}
	return a, errors.Join(errs...)
}

func parseEntry(n *yaml.Node) (Allowed, error) {
	e := Allowed{Line: n.Line}
	if n.Kind != yaml.MappingNode {
		return e, errors.New("expected an entry with rule, subject and reason")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch n.Content[i].Value {
		case "rule", "subject", "reason":
		default:
			return e, fmt.Errorf("unknown key %q: an entry has rule, subject and reason", n.Content[i].Value)
		}
	}
	if err := n.Decode(&e); err != nil {
		return e, err
	}
	e.Line = n.Line
	switch {
	case !slices.ContainsFunc(rules, func(r Rule) bool { return r.ID == e.Rule }):
		return e, fmt.Errorf("unknown rule %q: apigen compat --rules lists them", e.Rule)
	case e.Subject == "":
		return e, errors.New("the entry names no subject: group/version/Kind:path, as apigen compat prints it")
	case strings.TrimSpace(e.Reason) == "":
		return e, errors.New("the entry gives no reason")
	}
	return e, nil
}

// Filter removes the allowed findings, and returns the remaining ones and the entries that allowed none.
func (a *Allowances) Filter(findings []Finding) (left []Finding, idle []Allowed) {
	if a == nil {
		return findings, nil
	}
	used := make([]bool, len(a.Entries))
	for _, f := range findings {
		allowed := false
		for i, e := range a.Entries {
			if e.Rule == f.Rule.ID && e.matches(f.Subject()) {
				used[i], allowed = true, true
			}
		}
		if !allowed {
			left = append(left, f)
		}
	}
	for i, e := range a.Entries {
		if !used[i] {
			idle = append(idle, e)
		}
	}
	return left, idle
}

// literally takes their meaning from all characters of a pattern but the asterisk.
var literally = strings.NewReplacer(`\`, `\\`, "[", `\[`, "?", `\?`)

func (e Allowed) matches(subject string) bool {
	matched, err := path.Match(literally.Replace(e.Subject), subject)
	return matched && err == nil
}
