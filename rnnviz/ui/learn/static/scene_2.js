export { draw } from "./scene_4.js";
