package model

// Requests are the packages that the markers of a package name, before they are resolved.
type Requests struct {
	// Peers are those of +k8s:conversion-gen, in the order of the source.
	Peers []PackageRequest
	// ExternalTypes is that of +k8s:conversion-gen-external-types, DefaulterInput that of +k8s:defaulter-gen-input.
	ExternalTypes, DefaulterInput *PackageRequest
	// Serve are those of +apigen:serve, ServeKinds the kinds of +apigen:serve:kinds.
	Serve      []PackageRequest
	ServeKinds []KindsRequest
}

// PackageRequest is a package that a marker names.
type PackageRequest struct {
	Marker, Path string
	Pos          Position
}

// KindsRequest are kinds that a marker names.
type KindsRequest struct {
	Marker string
	Names  []string
	Pos    Position
}
