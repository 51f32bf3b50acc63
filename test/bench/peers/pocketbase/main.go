// PocketBase as it comes, except that each commit is on disk before its reply (synchronous=FULL), and with the
// collections of projects, storages and assets, which only members of a project reach.
package main

import (
	"log"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

func main() {
	app := pocketbase.NewWithConfig(pocketbase.Config{
		DBConnect: func(path string) (*dbx.DB, error) {
			return dbx.Open("sqlite", path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)"+
				"&_pragma=journal_size_limit(200000000)&_pragma=synchronous(FULL)&_pragma=foreign_keys(ON)"+
				"&_pragma=temp_store(MEMORY)&_pragma=cache_size(-32000)")
		},
	})
	app.OnServe().BindFunc(func(event *core.ServeEvent) error {
		if err := addCollections(app); err != nil {
			return err
		}
		return event.Next()
	})
	if err := app.Start(); err != nil {
		log.Fatal(err)
	}
}

func addCollections(app core.App) error {
	if _, err := app.FindCollectionByNameOrId("projects"); err == nil {
		return nil
	}
	users, err := app.FindCollectionByNameOrId("users")
	if err != nil {
		return err
	}
	projects := collection("projects", "members.id ?= @request.auth.id")
	projects.Fields.Add(&core.TextField{Name: "name", Required: true, Max: 200})
	projects.Fields.Add(&core.RelationField{Name: "members", CollectionId: users.Id, MaxSelect: 100, Required: true})
	if err := app.Save(projects); err != nil {
		return err
	}
	storages := collection("storages", "project.members.id ?= @request.auth.id")
	storages.Fields.Add(&core.RelationField{Name: "project", CollectionId: projects.Id, MaxSelect: 1, Required: true})
	for _, name := range []string{"name", "provider", "bucket", "region", "access_key", "secret_key"} {
		storages.Fields.Add(&core.TextField{Name: name, Required: true, Max: 200})
	}
	storages.AddIndex("storages_by_project", false, "project", "")
	if err := app.Save(storages); err != nil {
		return err
	}
	assets := collection("assets", "project.members.id ?= @request.auth.id")
	assets.Fields.Add(&core.RelationField{Name: "project", CollectionId: projects.Id, MaxSelect: 1, Required: true})
	assets.Fields.Add(&core.RelationField{Name: "storage", CollectionId: storages.Id, MaxSelect: 1, Required: true})
	for _, name := range []string{"name", "media_type"} {
		assets.Fields.Add(&core.TextField{Name: name, Required: true, Max: 200})
	}
	assets.Fields.Add(&core.NumberField{Name: "size", OnlyInt: true})
	assets.AddIndex("assets_by_project", false, "project, created", "")
	return app.Save(assets)
}

func collection(name string, rule string) *core.Collection {
	made := core.NewBaseCollection(name)
	made.ListRule = types.Pointer(rule)
	made.ViewRule = types.Pointer(rule)
	made.CreateRule = types.Pointer(rule)
	made.Fields.Add(&core.AutodateField{Name: "created", OnCreate: true})
	made.Fields.Add(&core.AutodateField{Name: "updated", OnCreate: true, OnUpdate: true})
	return made
}
