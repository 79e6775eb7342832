import { Heading } from "../ui/layout.tsx";

export function World() {
  return <Heading title="World" />;
}
