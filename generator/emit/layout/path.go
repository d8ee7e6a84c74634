package layout

// The import paths of the client packages.

// ClientsetPath, SchemePath and FakePath are the packages of the clientset.
func (s *Set) ClientsetPath() string { return s.Path + "/clientset/versioned" }
func (s *Set) SchemePath() string    { return s.ClientsetPath() + "/scheme" }
func (s *Set) FakePath() string      { return s.ClientsetPath() + "/fake" }

// TypedPath and TypedFakePath are the packages of a version's clients.
func (v *Version) TypedPath() string     { return v.Set.ClientsetPath() + "/typed/" + v.folder() }
func (v *Version) TypedFakePath() string { return v.TypedPath() + "/fake" }

// ListerPath is the package of a version's listers.
func (v *Version) ListerPath() string { return v.Set.Path + "/listers/" + v.folder() }

// InformersPath, InterfacesPath and the InformerPaths of groups and versions are the packages of the informers.
func (s *Set) InformersPath() string          { return s.Path + "/informers/externalversions" }
func (s *Set) InterfacesPath() string         { return s.InformersPath() + "/internalinterfaces" }
func (s *Set) GroupInformers(g *Group) string { return s.InformersPath() + "/" + g.Folder }
func (v *Version) InformerPath() string       { return v.Set.InformersPath() + "/" + v.folder() }

// ApplyPath and ParserPath are the packages of all apply configurations, ApplyPath of a version that of its own.
func (s *Set) ApplyPath() string     { return s.Path + "/applyconfiguration" }
func (s *Set) ParserPath() string    { return s.ApplyPath() + "/internal" }
func (v *Version) ApplyPath() string { return v.Set.ApplyPath() + "/" + v.folder() }

func (v *Version) folder() string { return v.Group.Folder + "/" + v.Name }
