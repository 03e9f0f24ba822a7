package cedar

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/ast"

	"github.com/seed-de4804fb/verbatim/policy"
)

// rule is one policy statement.
type rule struct {
	id     string
	file   string
	line   int
	column int
	source string // from its first byte to the next rule
	text   string // canonical Cedar, without comments
	policy *cedar.Policy
	ast    *ast.Policy
	terms  terms
	says   policy.Decision // when it is satisfied
	reads  reads
}

func (r *rule) permit() bool { return r.ast.Effect == ast.EffectPermit }

// parse reads one file. Rules without @id are called after file and place.
func parse(file string, text []byte) ([]*rule, error) {
	list, err := parseList(file, text)
	if err != nil {
		return nil, err
	}
	rules := make([]*rule, len(list))
	for i, p := range list {
		end := len(text)
		if i+1 < len(list) {
			end = list[i+1].Position().Offset
		}
		at := p.Position()
		rules[i] = &rule{id: fmt.Sprintf("%s#%d", file, i+1), file: file, line: at.Line, column: at.Column,
			source: string(text[at.Offset:end]), text: string(bytes.TrimSpace(p.MarshalCedar())),
			policy: p, ast: (*ast.Policy)(p.AST())}
		if id, ok := p.Annotations()["id"]; ok {
			rules[i].id = string(id)
		}
		rules[i].reads = readsOf(rules[i].ast)
	}
	return rules, nil
}

// parseList keeps a defect of the parser from taking the process down.
func parseList(file string, text []byte) (list cedar.PolicyList, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the parser failed")
		}
	}()
	return cedar.NewPolicyListFromBytes(file, text)
}

// reaches reports whether the scope of the rule lets it apply to the action.
func (r *rule) reaches(a *operation) bool {
	return r.scopeHasAction(a) && r.scopeHasResource(a.resources) && r.scopeHasUser()
}

func (r *rule) scopeHasAction(a *operation) bool {
	switch scope := r.ast.Action.(type) {
	case ast.ScopeTypeAll:
		return true
	case ast.ScopeTypeEq:
		return a.uid == scope.Entity
	case ast.ScopeTypeIn:
		return a.in(scope.Entity)
	case ast.ScopeTypeInSet:
		return slices.ContainsFunc(scope.Entities, a.in)
	default:
		return true // never skip a rule that is not understood
	}
}

// scopeHasResource reports whether the scope admits an entity of any of the
// types. Resources have no parents.
func (r *rule) scopeHasResource(of []types.EntityType) bool {
	switch scope := r.ast.Resource.(type) {
	case ast.ScopeTypeEq:
		return slices.Contains(of, scope.Entity.Type)
	case ast.ScopeTypeIn:
		return slices.Contains(of, scope.Entity.Type)
	case ast.ScopeTypeIs:
		return slices.Contains(of, scope.Type)
	case ast.ScopeTypeIsIn:
		return slices.Contains(of, scope.Type) && scope.Type == scope.Entity.Type
	default:
		return true
	}
}

// scopeHasUser reports whether the scope admits a principal, who is always a
// User in roles and a tenant.
func (r *rule) scopeHasUser() bool {
	group := func(t types.EntityType) bool { return t == typeUser || t == typeRole || t == typeTenant }
	switch scope := r.ast.Principal.(type) {
	case ast.ScopeTypeEq:
		return scope.Entity.Type == typeUser
	case ast.ScopeTypeIn:
		return group(scope.Entity.Type)
	case ast.ScopeTypeIs:
		return scope.Type == typeUser
	case ast.ScopeTypeIsIn:
		return scope.Type == typeUser && group(scope.Entity.Type)
	default:
		return true
	}
}

// about reports whether the scope of the rule covers this very request.
func (r *rule) about(who principal, resources []types.EntityUID) bool {
	switch scope := r.ast.Principal.(type) {
	case ast.ScopeTypeEq:
		if scope.Entity != who.uid {
			return false
		}
	case ast.ScopeTypeIn:
		if !who.in(scope.Entity) {
			return false
		}
	case ast.ScopeTypeIsIn:
		if !who.in(scope.Entity) {
			return false
		}
	}
	return slices.ContainsFunc(resources, r.scopeIsResource)
}

func (r *rule) scopeIsResource(uid types.EntityUID) bool {
	switch scope := r.ast.Resource.(type) {
	case ast.ScopeTypeEq:
		return scope.Entity == uid
	case ast.ScopeTypeIn:
		return scope.Entity == uid
	case ast.ScopeTypeIs:
		return scope.Type == uid.Type
	case ast.ScopeTypeIsIn:
		return scope.Type == uid.Type && scope.Entity == uid
	default:
		return true
	}
}

// place names the rule for a reason or a message.
func (r *rule) place() string {
	if strings.HasPrefix(r.id, r.file+"#") {
		return fmt.Sprintf("%s (line %d)", r.id, r.line)
	}
	return fmt.Sprintf("%s (%s:%d)", r.id, r.file, r.line)
}
