package clientset

// ClientsetPath is the import path of the clientset.
func (s *Set) ClientsetPath() string { return s.Path + "/clientset/versioned" }

// SchemePath is the import path of the clientset's scheme.
func (s *Set) SchemePath() string { return s.ClientsetPath() + "/scheme" }

// FakePath is the import path of the clientset without a server.
func (s *Set) FakePath() string { return s.ClientsetPath() + "/fake" }

// TypedPath is the import path of a version's clients.
func (v *Version) TypedPath() string { return v.Set.ClientsetPath() + "/typed/" + v.folder() }

// TypedFakePath is the import path of a version's clients without a server.
func (v *Version) TypedFakePath() string { return v.TypedPath() + "/fake" }

// ListerPath is the import path of a version's listers.
func (v *Version) ListerPath() string { return v.Set.Path + "/listers/" + v.folder() }

// InformersPath is the import path of the factory of informers.
func (s *Set) InformersPath() string { return s.Path + "/informers/externalversions" }

// InterfacesPath is the import path of what the factory and the informers know of each other.
func (s *Set) InterfacesPath() string { return s.InformersPath() + "/internalinterfaces" }

// GroupInformers is the import path of a group's informers.
func (s *Set) GroupInformers(g *Group) string { return s.InformersPath() + "/" + g.Folder }

// InformerPath is the import path of a version's informers.
func (v *Version) InformerPath() string { return v.Set.InformersPath() + "/" + v.folder() }

// ApplyPath is the import path of what is said of all apply configurations.
func (s *Set) ApplyPath() string { return s.Path + "/applyconfiguration" }

// ParserPath is the import path of the schema of apply configurations.
func (s *Set) ParserPath() string { return s.ApplyPath() + "/internal" }

// ApplyPath is the import path of a version's apply configurations.
func (v *Version) ApplyPath() string { return v.Set.ApplyPath() + "/" + v.folder() }

func (v *Version) folder() string { return v.Group.Folder + "/" + v.Name }
