// cgltf as the library has it: its functions get names of their own, so that a program may link another cgltf beside
// Sapwood's archive. This header is included in place of cgltf.h.
#ifndef SAPWOOD_FILES_GLTF_NAMES_H
#define SAPWOOD_FILES_GLTF_NAMES_H

#define cgltf_parse                   sap_cgltf_parse
#define cgltf_parse_file              sap_cgltf_parse_file
#define cgltf_load_buffers            sap_cgltf_load_buffers
#define cgltf_load_buffer_base64      sap_cgltf_load_buffer_base64
#define cgltf_decode_string           sap_cgltf_decode_string
#define cgltf_decode_uri              sap_cgltf_decode_uri
#define cgltf_validate                sap_cgltf_validate
#define cgltf_free                    sap_cgltf_free
#define cgltf_node_transform_local    sap_cgltf_node_transform_local
#define cgltf_node_transform_world    sap_cgltf_node_transform_world
#define cgltf_buffer_view_data        sap_cgltf_buffer_view_data
#define cgltf_find_accessor           sap_cgltf_find_accessor
#define cgltf_accessor_read_float     sap_cgltf_accessor_read_float
#define cgltf_accessor_read_uint      sap_cgltf_accessor_read_uint
#define cgltf_accessor_read_index     sap_cgltf_accessor_read_index
#define cgltf_num_components          sap_cgltf_num_components
#define cgltf_component_size          sap_cgltf_component_size
#define cgltf_calc_size               sap_cgltf_calc_size
#define cgltf_accessor_unpack_floats  sap_cgltf_accessor_unpack_floats
#define cgltf_accessor_unpack_indices sap_cgltf_accessor_unpack_indices
#define cgltf_copy_extras_json        sap_cgltf_copy_extras_json
#define cgltf_mesh_index              sap_cgltf_mesh_index
#define cgltf_material_index          sap_cgltf_material_index
#define cgltf_accessor_index          sap_cgltf_accessor_index
#define cgltf_buffer_view_index       sap_cgltf_buffer_view_index
#define cgltf_buffer_index            sap_cgltf_buffer_index
#define cgltf_image_index             sap_cgltf_image_index
#define cgltf_texture_index           sap_cgltf_texture_index
#define cgltf_sampler_index           sap_cgltf_sampler_index
#define cgltf_skin_index              sap_cgltf_skin_index
#define cgltf_camera_index            sap_cgltf_camera_index
#define cgltf_light_index             sap_cgltf_light_index
#define cgltf_node_index              sap_cgltf_node_index
#define cgltf_scene_index             sap_cgltf_scene_index
#define cgltf_animation_index         sap_cgltf_animation_index
#define cgltf_animation_sampler_index sap_cgltf_animation_sampler_index
#define cgltf_animation_channel_index sap_cgltf_animation_channel_index

#include <cgltf.h> // third_party/cgltf

#endif
