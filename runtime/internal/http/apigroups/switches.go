// Package apigroups decides what of its groups a server serves: the switches of --runtime-config, and groups joined
// with resources that come while the server runs.
//
// It may know packages api, endpoint, jsondoc, registry and verb.
package apigroups

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/endpoint"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Switches holds the switches of --runtime-config, which are kube-apiserver's. Everything that no switch names is on.
type Switches struct {
	resources map[schema.GroupVersionResource]bool
	versions  map[schema.GroupVersion]bool
	// levels are the switches for all versions of one level of maturity, in order of precedence.
	levels []level
	// all: there are no switches.
	all bool
}

type level struct {
	key      string
	versions *regexp.Regexp
	on       bool
}

// maturity are the keys of levels, in order of precedence.
var maturity = []level{
	{key: "api/alpha", versions: regexp.MustCompile(`^v\d+alpha\d+$`)},
	{key: "api/beta", versions: regexp.MustCompile(`^v\d+beta\d+$`)},
	{key: "api/ga", versions: regexp.MustCompile(`^v\d+$`)},
	{key: "api/all", versions: regexp.MustCompile(``)},
}

// NewSwitches parses the switches. It refuses a name that no group has, and switches that switch everything off.
func NewSwitches(switches map[string]string, groups []registry.Group) (*Switches, error) {
	e := &Switches{resources: map[schema.GroupVersionResource]bool{}, versions: map[schema.GroupVersion]bool{}}
	e.all = len(switches) == 0
	if len(switches) == 1 && switches["api/all"] == "false" {
		return nil, errors.New("invalid runtime-config with only api/all=false")
	}
	var errs []error
	for _, l := range maturity {
		if value, there := switches[l.key]; there {
			if value != "true" && value != "false" {
				errs = append(errs, fmt.Errorf("runtime-config: invalid value %s=%s", l.key, value))
			}
			l.on = value == "true"
			e.levels = append(e.levels, l)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(switches)) {
		if !slices.ContainsFunc(maturity, func(l level) bool { return l.key == key }) {
			errs = append(errs, e.set(key, switches[key], groups))
		}
	}
	return e, errors.Join(errs...)
}

// set parses <group>/<version>[/<resource>]. The core group is "" or api, or is left out: v1.
func (e *Switches) set(key, value string, groups []registry.Group) error {
	on := true
	if value != "" {
		var err error
		if on, err = strconv.ParseBool(value); err != nil {
			return fmt.Errorf("runtime-config: invalid value of %s: %s is neither true nor false", key, value)
		}
	}
	tokens := strings.Split(key, "/")
	if len(tokens) == 1 {
		tokens = []string{"", tokens[0]}
	}
	if tokens[0] == "api" {
		tokens[0] = ""
	}
	if len(tokens) > 3 || tokens[1] == "" {
		return fmt.Errorf("runtime-config: invalid key %s: "+
			"write <group>/<version> or <group>/<version>/<resource>", key)
	}
	gv := schema.GroupVersion{Group: tokens[0], Version: tokens[1]}
	at := slices.IndexFunc(groups, func(g registry.Group) bool { return g.Name == gv.Group })
	if at < 0 {
		return fmt.Errorf("runtime-config: unknown api group %q in %s", gv.Group, key)
	}
	if !slices.Contains(groups[at].Versions, gv.Version) {
		return fmt.Errorf("runtime-config: group version %s has not been registered", gv)
	}
	if len(tokens) == 2 {
		e.versions[gv] = on
		return nil
	}
	if !slices.ContainsFunc(groups[at].Resources, func(r registry.Resource) bool {
		return r.Info().Names.Plural == tokens[2] && r.Info().Version(gv.Version) != nil
	}) {
		return fmt.Errorf("runtime-config: %s has no resource %q: resources are named by their lowercase plural",
			gv, tokens[2])
	}
	e.resources[gv.WithResource(tokens[2])] = on
	return nil
}

// Serves reports whether a resource is served in a version. The most specific switch decides.
func (e *Switches) Serves(info *verb.Info, version string) bool {
	gv := schema.GroupVersion{Group: info.Group, Version: version}
	if on, named := e.resources[gv.WithResource(info.Names.Plural)]; named {
		return on
	}
	if on, named := e.versions[gv]; named {
		return on
	}
	for _, l := range e.levels {
		if l.versions.MatchString(version) {
			return l.on
		}
	}
	return true
}

// Narrow returns a group with what is served. The server opens no other resources.
func (e *Switches) Narrow(group registry.Group) endpoint.Group {
	if e.all {
		return endpoint.Group{Group: group}
	}
	narrowed := endpoint.Group{Group: group, Serves: e.Serves}
	narrowed.Versions, narrowed.Resources, narrowed.OpenAPI = nil, nil, map[string]api.Document{}
	for _, version := range group.Versions {
		if len(group.Resources) == 0 || slices.ContainsFunc(group.Resources, func(r registry.Resource) bool {
			return r.Info().Version(version) != nil && e.Serves(r.Info(), version)
		}) {
			narrowed.Versions = append(narrowed.Versions, version)
			if document, ok := group.OpenAPI[version]; ok {
				narrowed.OpenAPI[version] = document
			}
		}
	}
	for _, resource := range group.Resources {
		info := resource.Info()
		if slices.ContainsFunc(info.Versions, func(v api.VersionInfo) bool { return e.Serves(info, v.Name) }) {
			narrowed.Resources = append(narrowed.Resources, resource)
		}
	}
	return narrowed
}

// Parse parses the values of --runtime-config: key=value, or a key alone, which means true.
func Parse(values []string) map[string]string {
	switches := map[string]string{}
	for _, value := range values {
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		key, value, _ := strings.Cut(value, "=")
		switches[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return switches
}
