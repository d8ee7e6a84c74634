// Package webhooks has a server of apigen call webhooks that other projects wrote: cert-manager's, in front of
// cert-manager's kinds, and one that controller-runtime serves.
package webhooks
