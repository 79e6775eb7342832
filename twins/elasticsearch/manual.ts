/** The manual of the search twin, for those who test against it. */
import type { TwinManual } from "@offhook/platform/twin/manual";

export const searchManual: TwinManual = {
  credentials: [
    {
      id: "elasticsearch.any-credentials",
      text: "Any credentials are accepted, and none are needed; they are masked in the journal.",
    },
  ],
  repeatedWrites: [
    {
      id: "elasticsearch.index-again",
      text: "Indexing a document under the same id twice replaces it, with its version grown by one; without an id it makes two documents.",
    },
    {
      id: "elasticsearch.create-again",
      text: "Creating a document under the same id twice is a 409 in the vendor's words, and changes nothing.",
    },
    {
      id: "elasticsearch.index-made-again",
      text: "In the fidelity specification creating or deleting an index is acknowledged every time, and has no effect; in vendor an index is made once, again it is a 400, and deleting one that is not there a 404.",
    },
  ],
  notes: [
    {
      id: "elasticsearch.specification",
      text: "In the fidelity specification, the default, a clause that is unknown inside a query is left out, date math in a range is a text that matches nothing, and an index that is not there stands for the whole dataset.",
    },
    {
      id: "elasticsearch.vendor",
      text: "In the fidelity vendor such a clause works or is the vendor's 400, date math goes by the sandbox's clock, and an index that is not there is a 404.",
    },
    {
      id: "elasticsearch.bulk",
      text: "update and delete in a bulk request are real in the fidelity vendor; in specification they are acknowledged without effect.",
    },
    {
      id: "elasticsearch.keyword",
      text: "In the fidelity specification f and f.keyword are one field; in vendor f is text, whose words a term looks for, and f.keyword is the whole value.",
    },
    {
      id: "elasticsearch.nominal",
      text: "In the fidelity specification an index is a name that events are under; aliases, data streams, templates and settings are acknowledged and kept nowhere.",
    },
    {
      id: "elasticsearch.mappings",
      text: "In the fidelity vendor an index that was created has the mapping that it was created with: what is written to it is judged by it, it is searched by it, and a snapshot has it.",
    },
    {
      id: "elasticsearch.journal",
      text: "The journal's entry of a search has notes: sql, the statements with their values, and dropped, the clauses that were left out.",
    },
    {
      id: "elasticsearch.translator",
      text: "What the compilers do not recognise is translated by the model that the service's config names: ES|QL, queries and filters, members of the body and aggregations at the top. Without one it is the vendor's 400, which in `specification` says how to configure one. In `vendor` what the vendor would refuse never goes to a model, nor do members and aggregations.",
    },
    {
      id: "elasticsearch.refused",
      text: "Scripts, knn, rescore, suggest, runtime_mappings and inner_hits are refused by name, and so is copying an index.",
    },
  ],
};
