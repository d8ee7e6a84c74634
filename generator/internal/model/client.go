package model

import (
	"slices"
	"strings"
)

// Clients are the client packages that a package marked +apigen:clients asks for.
type Clients struct {
	// Marked is the package with the marker, Pos the marker's place.
	Marked *Package
	Pos    Position
	// Path and Dir are the import path and the folder below which all client packages lie. They may not exist yet.
	Path, Dir string
	// Groups are those in or below the marked package with a kind that is marked +genclient, by name.
	Groups []*Group
	// External maps packages of types to packages of apply configurations that exist for them
	// (+apigen:clients:external).
	External map[string]string
	// Declared are the names that hand-written files below Dir declare, by import path of their package: expansions.
	Declared map[string]map[string]bool
}

// Client is what +genclient and its kin say of a kind.
type Client struct {
	// NonNamespaced is +genclient:nonNamespaced, NoStatus +genclient:noStatus, NoVerbs +genclient:noVerbs.
	NonNamespaced, NoStatus, NoVerbs bool
	// Only are the verbs of +genclient:onlyVerbs and +genclient:readonly, Skip those of +genclient:skipVerbs.
	Only, Skip []string
	// Verbs are those that the client has, of ClientVerbs and in their order.
	Verbs []string
	// Methods are those of +genclient:method, in the order of the source.
	Methods []ClientMethod
	Pos     Position
}

// ClientMethod is +genclient:method: an additional method of a client.
type ClientMethod struct {
	Name string
	// Verb is one of create, update, get, list, patch and apply.
	Verb string
	// Subresource is where it goes; empty is the resource itself.
	Subresource string
	// Input and Result replace the kind. Their paths are empty if nothing was said.
	Input, Result Ref
	Pos           Position
}

// ClientVerbs returns all verbs of clients, in the order in which generated interfaces list them.
func ClientVerbs() []string {
	return []string{
		"create", "update", "updateStatus", "delete", "deleteCollection", "get", "list", "watch", "patch", "apply",
		"applyStatus",
	}
}

// Has reports whether the client has all of the verbs.
func (c *Client) Has(verbs ...string) bool {
	missing := func(verb string) bool { return c.NoVerbs || !slices.Contains(c.Verbs, verb) }
	return !slices.ContainsFunc(verbs, missing)
}

// Below reports whether a package lies in or below another's folder of import paths.
func (p *Package) Below(path string) bool { return strings.HasPrefix(p.Path+"/", path+"/") }
