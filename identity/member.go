package identity

// What a marked member names.
const (
	NamesPrincipal = "principal"
	NamesTenant    = "tenant"
)

// Member marks one argument member that names a principal or a tenant. A
// pointer may hold "*" for every element of an array.
type Member struct {
	Pointer string
	Names   string // NamesPrincipal or NamesTenant
	Fill    bool   // an absent member gets the session's value
}
